/**
 * llama.cpp as an engine: its official CPU builds, installed from their npm package and bound
 * through the Foreign Function &amp; Memory API.
 */
package io.steelyard.engines.llamacpp;
