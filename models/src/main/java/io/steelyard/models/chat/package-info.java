/** Chat templates: from a conversation to the text that a model was trained to answer. */
package io.steelyard.models.chat;
