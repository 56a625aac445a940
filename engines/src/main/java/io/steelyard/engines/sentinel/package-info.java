/** The engine {@code sentinel}: fixed work whose time tells whether the machine is undisturbed. */
package io.steelyard.engines.sentinel;
