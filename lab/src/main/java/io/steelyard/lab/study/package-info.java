/** What is asked: engines, workloads, cells, and the plan that a run follows. */
package io.steelyard.lab.study;
