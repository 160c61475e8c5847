package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.index.SpatialKeys;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.lsm.component.PageOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A secondary index of a dataset, resolved. <em>Immutable.</em>
 *
 * @param id names its trees and files; unique in its dataset, never reused; the primary is 0. An
 *     index that is enabled again gets a new one: it has nothing in common with the old trees
 * @param entryKeys which entries it has for a record
 * @param maintenance how it follows updates
 * @param unique whether two records may not have the same key; null and missing never collide
 * @param pages how its components keep their pages; null if as the dataset's
 */
public record IndexSchema(
        int id,
        String name,
        IndexDescription.Kind kind,
        EntryKeys entryKeys,
        Maintenance maintenance,
        boolean unique,
        @Nullable PageOptions pages,
        State state) {
    /** The id of every partition's primary index. */
    public static final int PRIMARY_ID = 0;

    /** What messages and descriptions call it; no secondary may. */
    public static final String PRIMARY_NAME = "primary";

    /** What writers and readers do with an index. */
    public enum State {
        /** Writers maintain it, readers don't see it; no manifest names it. */
        BUILDING,
        /** Maintained and searched. */
        READY,
        /** A definition without trees. */
        DISABLED;

        /** The name for people: {@code ready}. */
        public String label() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /**
     * Whether this index has a deleted-key tree: the keys that were written over in each of its
     * components.
     */
    public boolean hasDeletedKeyTree() {
        return maintenance == Maintenance.DELETED_KEY;
    }

    /** Its own tree. */
    public TreeId tree() {
        return TreeId.of(id);
    }

    /**
     * Whether its disk part is a region of a kind that the store was given: then it has a memory
     * component in each layer, and no disk component.
     */
    public boolean hasRegion() {
        return kind.isGiven();
    }

    /** Its trees in memory layers. */
    public List<TreeId> layerTreeIds() {
        return hasRegion() ? List.of(tree()) : treeIds();
    }

    /** Its trees on disk: its own, then its deleted-key tree. */
    public List<TreeId> treeIds() {
        if (hasRegion()) {
            return List.of();
        }
        return hasDeletedKeyTree() ? List.of(tree(), tree().deletedKeyTree()) : List.of(tree());
    }

    /** The same in another state. */
    public IndexSchema withState(State newState) {
        return new IndexSchema(id, name, kind, entryKeys, maintenance, unique, pages, newState);
    }

    /** The same with other trees, to be built: their keys have today's form. */
    public IndexSchema withId(int newId) {
        EntryKeys current = entryKeys.renewed();
        return new IndexSchema(newId, name, kind, current, maintenance, unique, pages, state);
    }

    /** Whether it may be searched: it is built, and not disabled. */
    public boolean isReady() {
        return state == State.READY;
    }

    /** The indexed fields. */
    public List<String> fields() {
        return entryKeys.fields();
    }

    /** The key of a B+-tree's fields. */
    public KeySpec fieldKey() {
        if (entryKeys instanceof FieldKeys ofFields) {
            return ofFields.spec();
        }
        throw new IllegalStateException("index %s has no key of its fields".formatted(name));
    }

    /**
     * Checks that it can be searched by windows.
     *
     * @param kind of the keys that are meant
     * @throws InvalidRequestException if it has no such keys
     */
    public void requireWindows(SpatialKind kind) {
        if (!(entryKeys instanceof SpatialKeys spatial) || spatial.kind() != kind) {
            throw new InvalidRequestException(
                    "index %s, a %s on %s, is no rtree of such values: it has no windows"
                            .formatted(name, this.kind.label(), fields()));
        }
    }

    /**
     * Whether a key of this B+-tree, which may have the primary key behind it, has a null or
     * missing field.
     */
    public boolean hasNull(Slice entryKey) {
        return fieldKey().decode(entryKey, 0).contains(null);
    }

    /**
     * Takes the entry keys that a record gives.
     *
     * @param keys what was in it is forgotten
     * @return false, and there is none, if one is too long or there are too many: then the record
     *     is older than the index, which has no entry for it
     */
    public boolean makeIfFits(RecordView record, Slice primaryKey, EntryKeyList keys) {
        keys.clear();
        try {
            entryKeys.append(record, primaryKey, keys);
            return true;
        } catch (InvalidRequestException refused) {
            return false;
        }
    }

    /** What readers need to know of it. */
    public IndexDescription describe() {
        return new IndexDescription(
                name,
                kind,
                fields(),
                maintenance.isValidWhenFound(),
                entryKeys.form(),
                entryKeys.isMultiValued(),
                entryKeys.parameters());
    }
}
