/**
 * All runs that were ever kept, in SQLite or PostgreSQL: added, listed, followed over time,
 * compared, exported. {@link io.steelyard.history.HistoryStore} is the way in.
 */
package io.steelyard.history;
