/** The command line. */
package io.steelyard.app;
