package io.turbidite.core.sim;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A directory: the names that processes see, the names that survive any power cut, and the changes
 * in between, in order. <em>Confined to the disk's lock.</em>
 */
final class DirectoryNode implements Node {
    private final long id;
    private final TreeMap<String, Node> seen = new TreeMap<>();
    private final TreeMap<String, Node> durable = new TreeMap<>();
    private final List<Change> pending = new ArrayList<>();

    DirectoryNode(long id) {
        this.id = id;
    }

    @Override
    public long id() {
        return id;
    }

    Map<String, Node> seen() {
        return seen;
    }

    Map<String, Node> durable() {
        return durable;
    }

    List<Change> pending() {
        return pending;
    }

    /** Puts an entry that needs no sync: for building images. */
    void putDurable(String name, Node node) {
        seen.put(name, node);
        durable.put(name, node);
    }

    /** Makes a change that is volatile until {@link #sync}. */
    void change(Change change) {
        change.apply(seen);
        pending.add(change);
    }

    /** All pending changes become durable. */
    void sync() {
        pending.forEach(Change::makeDurable);
        pending.clear();
    }

    /**
     * A sync that fails: each change is on the device or will never be, and no later sync helps.
     */
    void failSync(SplittableRandom random) {
        for (Change change : pending) {
            if (random.nextBoolean()) {
                change.makeDurable();
            } else {
                change.lose();
            }
        }
        pending.clear();
    }

    /** One change of a directory's names, atomic. */
    static final class Change {
        private enum State {
            PENDING,
            DURABLE,
            LOST
        }

        private final long sequence;
        private final DirectoryNode directory;
        private final @Nullable String removed;
        private final @Nullable String added;
        private final Node node;
        private @Nullable Change needed;
        private State state = State.PENDING;

        /**
         * @param sequence order over all directories of the disk
         * @param removed the name that goes, if it still leads to {@code node}
         * @param added the name that leads to {@code node} from now on
         */
        Change(
                long sequence,
                DirectoryNode directory,
                @Nullable String removed,
                @Nullable String added,
                Node node) {
            this.sequence = sequence;
            this.directory = directory;
            this.removed = removed;
            this.added = added;
            this.node = node;
        }

        /**
         * The other half of a rename between directories, which adds the new name: a file is never
         * lost by its renaming.
         */
        Change needs(Change other) {
            needed = other;
            return this;
        }

        long sequence() {
            return sequence;
        }

        boolean isDurable() {
            return state == State.DURABLE;
        }

        boolean isLost() {
            return state == State.LOST;
        }

        @Nullable
        Change needed() {
            return needed;
        }

        void apply(Map<String, Node> names) {
            if (removed != null) {
                names.remove(removed, node);
            }
            if (added != null) {
                names.put(added, node);
            }
        }

        void makeDurable() {
            if (state != State.PENDING) {
                return;
            }
            if (needed != null) {
                needed.makeDurable();
                if (needed.isLost()) {
                    state = State.LOST;
                    return;
                }
            }
            apply(directory.durable);
            state = State.DURABLE;
        }

        void lose() {
            if (state == State.PENDING) {
                state = State.LOST;
            }
        }
    }
}
