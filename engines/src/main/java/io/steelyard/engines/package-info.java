/** Adapters: one engine a package, each serving the worker protocol. */
package io.steelyard.engines;
