package io.turbidite.lsm.component;

/**
 * Where the bytes of a component file are; header, table of contents and footer are what is missing
 * to its size. <em>Immutable.</em>
 *
 * @param recordPages leaf pages of the record tree, as they are stored
 * @param keyPages leaf pages of the key tree
 * @param interiors of both trees, with the boxes of an R-tree
 * @param bloom the Bloom filter
 * @param sample of records, for estimates
 */
public record ComponentSpace(
        long recordPages, long keyPages, long interiors, long bloom, long sample) {}
