package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.schema.IndexSchema.State;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The secondary indexes of a dataset, in order of creation. <em>Immutable.</em>
 *
 * <ol>
 *   <li>Names are distinct, and none is the primary's.
 *   <li>Ids are distinct and below {@link #nextId()}, which never falls.
 * </ol>
 */
public final class IndexCatalog {
    private final List<IndexSchema> all;
    private final List<IndexSchema> live;
    private final int nextId;

    private IndexCatalog(List<IndexSchema> all, int nextId) {
        this.all = List.copyOf(all);
        this.live =
                all.stream().filter(index -> index.state() != State.DISABLED).toList();
        this.nextId = nextId;
    }

    /** A dataset without secondary indexes. */
    public static IndexCatalog empty() {
        return new IndexCatalog(List.of(), IndexSchema.PRIMARY_ID + 1);
    }

    /**
     * A catalog as it was kept.
     *
     * @throws InvalidRequestException if it breaks an invariant
     */
    public static IndexCatalog of(String dataset, List<IndexSchema> all, int nextId) {
        Set<String> names = new HashSet<>();
        Set<Integer> ids = new HashSet<>();
        for (IndexSchema index : all) {
            if (index.name().equals(IndexSchema.PRIMARY_NAME)) {
                throw new InvalidRequestException(
                        "dataset %s: no index may be named '%s'".formatted(dataset, index.name()));
            }
            if (!names.add(index.name())) {
                throw new InvalidRequestException(
                        "dataset %s: two indexes are named '%s'".formatted(dataset, index.name()));
            }
            if (index.id() <= IndexSchema.PRIMARY_ID
                    || index.id() >= nextId
                    || !ids.add(index.id())) {
                throw new InvalidRequestException("dataset %s: index %s has the id %d"
                        .formatted(dataset, index.name(), index.id()));
            }
        }
        return new IndexCatalog(all, nextId);
    }

    /** All of them, disabled ones too. */
    public List<IndexSchema> all() {
        return all;
    }

    /** Those that have trees. */
    public List<IndexSchema> live() {
        return live;
    }

    /** Ids at or above it are unused. */
    public int nextId() {
        return nextId;
    }

    /** The index of that name; null if there is none. */
    public @Nullable IndexSchema find(String name) {
        for (IndexSchema index : all) {
            if (index.name().equals(name)) {
                return index;
            }
        }
        return null;
    }

    /** The same with one index more, or with another definition of the one of that name. */
    IndexCatalog with(IndexSchema index) {
        List<IndexSchema> changed = new ArrayList<>(all);
        IndexSchema before = find(index.name());
        if (before == null) {
            changed.add(index);
        } else {
            changed.set(changed.indexOf(before), index);
        }
        return new IndexCatalog(changed, Math.max(nextId, index.id() + 1));
    }

    /** The same with the ids below {@code id} used up. */
    IndexCatalog withNextId(int id) {
        return new IndexCatalog(all, Math.max(nextId, id));
    }

    /** The same without the index of that name; its id stays used. */
    IndexCatalog without(String name) {
        List<IndexSchema> fewer = new ArrayList<>(all);
        fewer.removeIf(index -> index.name().equals(name));
        return new IndexCatalog(fewer, nextId);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IndexCatalog catalog
                && all.equals(catalog.all)
                && nextId == catalog.nextId;
    }

    @Override
    public int hashCode() {
        return Objects.hash(all, nextId);
    }

    @Override
    public String toString() {
        return all.toString();
    }
}
