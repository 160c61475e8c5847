package io.turbidite.lsm.strategy.bitmap;

/**
 * Whose invalid entries a file holds. <em>Immutable.</em>
 *
 * @param storeId of the store
 * @param fileId of the bitmap's file
 * @param componentFileId of the component's file
 */
public record ValidityBitmapOwner(long storeId, long fileId, long componentFileId) {}
