/**
 * Finds the file behind a model's name: in the cache, from the sources that the catalogue lists, on
 * the local disk, or made at random. Every source of a model must have the one file whose checksum
 * the catalogue gives.
 */
package io.steelyard.models.catalogue;
