package io.turbidite.lsm.strategy.validation;

import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.List;

/**
 * Tells by Bloom filters alone that an entry has no successor, so that it need not be sorted (LUO19
 * §4.4, Bloom filter optimization). Made for the entries of one component, by how far that is
 * checked: one that was checked further must not be tested against its own record (design §4 rule
 * 3).
 *
 * <p><em>Confined to one thread.</em>
 */
final class BloomShortcut {
    /** How far the component is checked. */
    final long checkedUntil;

    private final DiskComponent[] newer;
    private final boolean helps;

    BloomShortcut(KeyTrees keyTrees, long checkedUntil, boolean wanted) {
        this.checkedUntil = checkedUntil;
        List<ComponentHandle> searched = keyTrees.newerThan(checkedUntil);
        this.newer =
                searched.stream().map(ComponentHandle::component).toArray(DiskComponent[]::new);
        // where one of them covers what is checked too, every key of that is in it: all tests would
        // be in vain
        this.helps = wanted
                && searched.stream()
                        .allMatch(handle -> handle.component().hasBloom()
                                && handle.state().minTimestamp() > checkedUntil);
    }

    /** Whether there is a use in asking. */
    boolean helps() {
        return helps;
    }

    /** Whether some newer component may have a version of the key. */
    boolean mayHaveSuccessor(long keyHash) {
        for (DiskComponent component : newer) {
            if (component.mayContain(keyHash)) {
                return true;
            }
        }
        return false;
    }
}
