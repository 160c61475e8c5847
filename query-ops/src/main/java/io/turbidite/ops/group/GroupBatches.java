package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.ops.aggregate.ArgumentColumns;
import io.turbidite.ops.aggregate.GroupStates;
import io.turbidite.ops.batch.KeyWords;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The groups of batches, in front of a {@link GroupTable}: found by the words of their keys, with
 * their counts or states in one array, to which columns are added. The key of a group is encoded
 * when it is new, and gets an entry of the table at once; {@link #flush} gives the entries what was
 * collected here, so that the table has all of it.
 *
 * <p>States are those of the entry, moved here, so that rows are added in one order wherever they
 * are added: sums of doubles depend on it. The number of such an entry is that of the group here,
 * and a row that goes to the entry is added between {@link #moveBack} and {@link #moveHere}.
 *
 * <p>The table may need this memory more: {@link #giveUp} gives it back.
 *
 * <p>Records whose keys have no words, and those of new groups for which there is no room here, are
 * left to the caller. <em>Confined to one thread at a time.</em>
 */
final class GroupBatches {
    private static final int SLOTS_FIRST = 64;

    /** More would lie in no cache: such groups go straight to the table. */
    private static final int GROUPS_MAX = 1 << 16;

    /** The share of the table's memory that this may have. */
    private static final int MEMORY_PART = 4;

    private final GroupTable table;
    private final long bytesMax;
    private final @Nullable GroupStates states;
    private final Slice groupStates = new Slice();

    /** Words of a key, and of its states, of which a count is one. */
    private final int keyWords;

    private final int stateWords;

    /**
     * The number of a group, and above it half of its hash; 0 is free. A power of two long, at most
     * half full.
     */
    private long[] slots = {};

    /** Keys, states and entries of the groups, from 1 on: the states of 0 are those of no group. */
    private long[] groupKeys = {};

    private long[] groupWords = {};
    private long[] entries = {};
    private int groups;

    /** No group comes any more: the bound is reached, memory was refused, or was given up. */
    private boolean isFull;

    /** Where the states of each row's group begin; 0: the row is left to the caller. */
    private int[] places = {};

    /**
     * @param keyWords of each row
     * @param states null: groups are counted
     * @param memoryBytes of the table
     */
    GroupBatches(GroupTable table, int keyWords, @Nullable GroupStates states, long memoryBytes) {
        this.table = table;
        this.states = states;
        this.bytesMax = memoryBytes / MEMORY_PART;
        this.keyWords = keyWords;
        this.stateWords = states == null ? 1 : states.words();
    }

    /**
     * Reads the columns of a batch; its rows are then taken by {@link #take}.
     *
     * @return false where there is no memory for any group
     */
    boolean begin(GroupedBatch batch) {
        if (slots.length == 0 && (isFull || !grow())) {
            return false;
        }
        int count = batch.count();
        if (places.length < count) {
            places = new int[Math.max(count, 2 * places.length)];
        }
        batch.read();
        return true;
    }

    /**
     * Takes rows from one on, up to the first that needs an entry for which the table has no
     * memory.
     *
     * @return behind the last one that was taken or is {@link #isLeft left}
     */
    int take(GroupedBatch batch, int from) {
        int count = batch.count();
        if (slots.length == 0) {
            // given up since the batch began
            Arrays.fill(places, from, count, 0);
            return count;
        }
        int to = batch.isWhole() && groups == 1 ? ofWhole(from, count) : placed(batch, from, count);
        ArgumentColumns arguments = batch.arguments();
        if (states == null || arguments == null) {
            for (int i = from; i < to; i++) {
                groupWords[places[i]]++;
            }
        } else {
            states.addAll(groupWords, places, from, to, arguments);
        }
        return to;
    }

    private int ofWhole(int from, int to) {
        Arrays.fill(places, from, to, stateWords);
        return to;
    }

    private int placed(GroupedBatch batch, int from, int count) {
        long[] hashes = batch.hashes();
        long[] words = batch.words();
        for (int row = from; row < count; row++) {
            if (words[row * keyWords] == KeyWords.NONE) {
                places[row] = 0;
                continue;
            }
            int group = find(hashes[row], words, row * keyWords);
            if (group == 0 && !isFull) {
                group = add(batch, hashes[row], row);
                if (group < 0) {
                    return row;
                }
            }
            places[row] = group * stateWords;
        }
        return count;
    }

    /** Whether a row that was gone over has to be taken by the caller. */
    boolean isLeft(int row) {
        return places[row] == 0;
    }

    /** The group of a row, whose words begin at a place; 0 if it is not here. */
    private int find(long hash, long[] words, int at) {
        int mask = slots.length - 1;
        int slot = (int) (hash >>> Integer.SIZE) & mask;
        for (; slots[slot] != 0; slot = (slot + 1) & mask) {
            long found = slots[slot];
            if ((found ^ hash) >>> Integer.SIZE == 0 && isKey((int) found, words, at)) {
                return (int) found;
            }
        }
        return 0;
    }

    private boolean isKey(int group, long[] words, int at) {
        int of = group * keyWords;
        for (int i = 0; i < keyWords; i++) {
            if (groupKeys[of + i] != words[at + i]) {
                return false;
            }
        }
        return true;
    }

    /** A new group; 0 where there is no room for it here, -1 where the table has none. */
    private int add(GroupedBatch batch, long hash, int row) {
        if (groups == entries.length - 1 && !grow()) {
            return 0;
        }
        long entry = entryOf(batch.key(row));
        if (entry == SortBuffer.FULL) {
            return -1;
        }
        groups++;
        System.arraycopy(batch.words(), row * keyWords, groupKeys, groups * keyWords, keyWords);
        entries[groups] = entry;
        if (states != null) {
            table.setNumber(entry, groups);
            moveHere(groups, table.states(entry, groupStates));
        }
        put(hash >>> Integer.SIZE << Integer.SIZE | groups);
        return groups;
    }

    /** The entry of a row's group, which may have come by rows before. */
    private long entryOf(Slice key) {
        long entry = table.find(key);
        if (entry != SortBuffer.NONE) {
            return entry;
        }
        return states == null ? table.addCount(key) : table.add(key, states.empty());
    }

    /** Puts what the slot of a group has where its hash says. */
    private void put(long value) {
        int mask = slots.length - 1;
        int slot = (int) (value >>> Integer.SIZE) & mask;
        while (slots[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        slots[slot] = value;
    }

    /** Makes room for twice as many groups; false, and nothing changes, where it has all it may. */
    private boolean grow() {
        int newSlots = slots.length == 0 ? SLOTS_FIRST : slots.length * 2;
        int room = newSlots / 2;
        long bytes = (newSlots + (long) room * (keyWords + stateWords + 1)) * Long.BYTES;
        // old and new are both there while the new ones are filled
        if (room > GROUPS_MAX || bytes * 3 / 2 > bytesMax || !table.chargeBeside(bytes * 3 / 2)) {
            isFull = true;
            return false;
        }
        // all or none, should the heap have no room
        long[] moreSlots = new long[newSlots];
        long[] moreKeys = Arrays.copyOf(groupKeys, room * keyWords);
        long[] moreWords = Arrays.copyOf(groupWords, room * stateWords);
        long[] moreEntries = Arrays.copyOf(entries, room);
        long[] old = slots;
        slots = moreSlots;
        groupKeys = moreKeys;
        groupWords = moreWords;
        entries = moreEntries;
        for (long slot : old) {
            if (slot != 0) {
                put(slot);
            }
        }
        table.lowerBeside(bytes);
        return true;
    }

    /** Takes over the states of a group's entry. */
    void moveHere(long group, Slice from) {
        if (states != null) {
            states.load(from, groupWords, (int) group * stateWords);
        }
    }

    /** Gives the entry of a group the states that are here. */
    void moveBack(long group, Slice to) {
        if (states != null) {
            states.store(groupWords, (int) group * stateWords, to);
        }
    }

    /** Gives the entries of the table what was collected, and forgets all groups. */
    void flush() {
        for (int group = 1; group <= groups; group++) {
            long entry = entries[group];
            if (states == null) {
                table.count(entry, groupWords[group * stateWords]);
            } else {
                moveBack(group, table.states(entry, groupStates));
                table.setNumber(entry, 0);
            }
        }
        forget();
    }

    private void forget() {
        groups = 0;
        Arrays.fill(slots, 0);
        Arrays.fill(groupWords, 0);
    }

    /**
     * Leaves its memory to the table, and all rows to the caller until {@link #clear}.
     *
     * @return false where it had none
     */
    boolean giveUp() {
        if (slots.length == 0) {
            return false;
        }
        flush();
        slots = new long[0];
        groupKeys = slots;
        groupWords = slots;
        entries = slots;
        isFull = true;
        table.lowerBeside(0);
        return true;
    }

    /** Forgets all groups, as the table does. */
    void clear() {
        isFull = false;
        forget();
    }
}
