package io.turbidite.feeds.source.file;

/**
 * A file of a source.
 *
 * @param name the plain name: what positions and dead letters call it
 * @param path its name on the disk it was found on
 * @param byteCount of the file as it lies there, compressed or not, when the source was opened
 */
public record SourceFile(String name, String path, long byteCount) {}
