package io.turbidite.core.index;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The kinds of index that a store was given beside those that it has itself. <em>Immutable.</em>
 *
 * @param all with distinct names
 */
public record IndexKinds(List<IndexKind> all) {
    /** No kind. */
    public static final IndexKinds NONE = new IndexKinds(List.of());

    public IndexKinds {
        all = List.copyOf(all);
        Set<String> names = new HashSet<>();
        for (IndexKind kind : all) {
            if (!names.add(kind.name())) {
                throw new InvalidRequestException(
                        "two kinds of index are named '%s'".formatted(kind.name()));
            }
        }
    }

    /** The kind of that name; null if it was not given. */
    public @Nullable IndexKind find(String name) {
        for (IndexKind kind : all) {
            if (kind.name().equals(name)) {
                return kind;
            }
        }
        return null;
    }

    /**
     * The kind of that name.
     *
     * @param use who needs it, for the message: {@code "index by_tail"}
     * @throws InvalidRequestException if it was not given
     */
    public IndexKind require(String use, String name) {
        IndexKind kind = find(name);
        if (kind == null) {
            throw new InvalidRequestException(
                    "%s is of kind %s, which this store was not given: open it with StoreOptions.withIndexKinds"
                            .formatted(use, name));
        }
        return kind;
    }
}
