/** What machine, runtime and repository a run was made on. */
package io.steelyard.lab.environment;
