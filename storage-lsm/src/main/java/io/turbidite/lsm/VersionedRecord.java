package io.turbidite.lsm;

import org.jspecify.annotations.Nullable;

import java.util.Map;

/**
 * A record and which version of it that is. <em>Immutable.</em>
 *
 * @param fields by name, in declared order
 * @param version the timestamp of the write that put it, above 0; no two versions of a record have
 *     the same
 */
public record VersionedRecord(Map<String, @Nullable Object> fields, long version) {}
