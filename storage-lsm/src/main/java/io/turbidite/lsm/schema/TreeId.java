package io.turbidite.lsm.schema;

import io.turbidite.lsm.component.ComponentHeader;

/**
 * Names a tree of a dataset's partitions: the primary, the own tree of a secondary index, or its
 * deleted-key tree, which goes along with it component for component, with the same component IDs,
 * and holds the deleted keys. <em>Immutable.</em>
 *
 * @param number as files have it: 0 is the primary, an index's id its own tree, and less than 0
 *     a deleted-key tree
 */
public record TreeId(int number) {
    /** The tree of the primary index, which every partition has. */
    public static final TreeId PRIMARY = new TreeId(0);

    /** The tree of that number, which for an index's own is its id. */
    public static TreeId of(int number) {
        return number == PRIMARY.number ? PRIMARY : new TreeId(number);
    }

    /** The tree that a component file belongs to. */
    public static TreeId of(ComponentHeader header) {
        return of(header.indexId());
    }

    /** The tree that goes along with this one, which is a secondary's own. */
    public TreeId deletedKeyTree() {
        assert number > 0 : this;
        return new TreeId(-number);
    }

    /** Whether it is the primary index. */
    public boolean isPrimary() {
        return number == 0;
    }

    /** Whether it goes along with a secondary's, rather than being an index's own. */
    public boolean isDeletedKeyTree() {
        return number < 0;
    }

    /** The index that it belongs to; 0 for the primary. */
    public int indexId() {
        return Math.abs(number);
    }
}
