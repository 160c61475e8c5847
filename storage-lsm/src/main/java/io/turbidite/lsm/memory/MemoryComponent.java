package io.turbidite.lsm.memory;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;

import java.lang.foreign.MemorySegment;

/**
 * The mutable layer of one index, for one generation: entries in the order (key ascending,
 * timestamp descending), off the heap.
 *
 * <p>Entries are written one after the other into chunks and never move; a B+-tree over their keys
 * leads to the newest version of each key, which leads to the older ones. A put writes the entry
 * first and links it last, so that a reader meets it whole or not at all. Neither put nor find
 * allocates on the heap.
 *
 * <p><em>Thread-safe</em>: any number of writers and readers at the same time; readers write
 * nothing that is shared. A find or a cursor sees every put that had returned before it began. The
 * owner closes it when no operation uses it any more and no cursor is left.
 */
public final class MemoryComponent implements AutoCloseable {
    private final ChunkArena arena;
    private final MemoryTree tree;
    private volatile boolean closed;

    private MemoryComponent(ChunkArena arena) {
        this.arena = arena;
        this.tree = new MemoryTree(arena);
    }

    /** An empty component; takes its first chunk. */
    public static MemoryComponent create(ChunkSource chunks) {
        return new MemoryComponent(new ChunkArena(chunks));
    }

    /**
     * Adds a version of {@code key}. The bytes are copied. Of two puts with the same key and
     * timestamp (one operation that removes an entry and adds it again) the last one counts.
     *
     * @param key up to {@value Entry#KEY_LENGTH_MAX} bytes, which may be empty
     * @param timestamp 0 to {@link Limits#TIMESTAMP_MAX}, in any order
     * @param value up to {@link Limits#RECORD_BYTES_MAX} bytes
     * @throws InvalidRequestException if key or value are too long; nothing was changed
     */
    public void put(Slice key, long timestamp, boolean antimatter, Slice value) {
        put(key, timestamp, antimatter, value, new Place());
    }

    /**
     * Finds out where a {@link #put(Slice, long, boolean, Slice, Place) put} of {@code key} has to
     * go.
     */
    public void seek(Slice key, Place place) {
        int slot;
        long leaf;
        do {
            leaf = tree.leafOf(key);
            MemorySegment chunk = arena.chunk(MemoryTree.leafRef(leaf));
            long at = arena.offset(MemoryTree.leafRef(leaf));
            slot = tree.searchLeaf(chunk, at, MemoryTree.leafVersion(leaf), key);
        } while (slot == MemoryTree.CHANGED);
        place.leaf = MemoryTree.leafRef(leaf);
        place.version = MemoryTree.leafVersion(leaf);
        place.slot = slot;
    }

    /**
     * As {@link #put(Slice, long, boolean, Slice)}.
     *
     * @param place clear, or from a {@link #seek} of this key in this component; clear afterwards
     */
    public void put(Slice key, long timestamp, boolean antimatter, Slice value, Place place) {
        checkOpen();
        checkEntry(key, timestamp, value);
        if (place.leaf == 0) {
            seek(key, place);
        }
        int ref = 0;
        while (true) {
            MemorySegment chunk = arena.chunk(place.leaf);
            long at = arena.offset(place.leaf);
            int version = place.version;
            int slot = place.slot;
            if (slot >= 0 && Node.get(chunk, at, Node.COUNT) == Node.SLOTS) {
                tree.makeRoom(key);
                seek(key, place);
                continue;
            }
            if (ref == 0) {
                ref = writeEntry(key, timestamp, antimatter, value, slot < 0);
            }
            if (!Node.latch(chunk, at, version)) {
                seek(key, place);
                continue;
            }
            if (slot >= 0) {
                tree.insert(chunk, at, slot, ref);
            } else {
                addVersion(chunk, at, ~slot, ref);
            }
            Node.unlatch(chunk, at, version);
            place.clear();
            return;
        }
    }

    private static void checkEntry(Slice key, long timestamp, Slice value) {
        if (key.length() > Entry.KEY_LENGTH_MAX || value.length() > Limits.RECORD_BYTES_MAX) {
            throw new InvalidRequestException("a key of %d bytes with a value of %d is too large"
                    .formatted(key.length(), value.length()));
        }
        if (timestamp < 0 || timestamp > Limits.TIMESTAMP_MAX) {
            throw new IllegalArgumentException("timestamp " + timestamp);
        }
    }

    /**
     * Writes an entry that nobody can reach yet, with room for a jump if it will not be the only
     * version.
     */
    private int writeEntry(
            Slice key, long timestamp, boolean antimatter, Slice value, boolean deep) {
        int keyLength = key.length();
        int valueLength = value.length();
        int bytes = (deep ? Entry.DEEP_BYTES : 0) + Entry.KEY + keyLength + valueLength;
        boolean oversized = bytes > arena.pieceBytesMax();
        int piece = -1;
        if (oversized) {
            bytes += Entry.OVERSIZED_BYTES - valueLength;
            piece = arena.allocateOversized(valueLength);
        }
        int ref = arena.allocateEntry(bytes);
        if (deep) {
            ref += Entry.DEEP_BYTES / ChunkArena.UNIT_BYTES;
        }
        MemorySegment chunk = arena.chunk(ref);
        long at = arena.offset(ref);
        int flags = (antimatter ? Entry.ANTIMATTER : 0)
                | (deep ? Entry.DEEP : 0)
                | (oversized ? Entry.OVERSIZED : 0);
        chunk.set(Bytes.I64, at + Entry.WORD, Entry.word(timestamp, keyLength, flags));
        chunk.set(Bytes.I32, at + Entry.VALUE_LENGTH, valueLength);
        chunk.set(Bytes.I32, at + Entry.OLDER, 0);
        if (deep) {
            Entry.setJump(chunk, at, 0, 0);
        }
        MemorySegment.copy(key.segment(), key.offset(), chunk, at + Entry.KEY, keyLength);
        MemorySegment valueTarget = chunk;
        long valueAt = at + Entry.KEY + keyLength;
        if (oversized) {
            chunk.set(Bytes.I32, valueAt, piece);
            valueTarget = arena.oversized(piece);
            valueAt = 0;
        }
        MemorySegment.copy(value.segment(), value.offset(), valueTarget, valueAt, valueLength);
        return ref;
    }

    /** Links a further version of the key at {@code slot} of a latched leaf. */
    private void addVersion(MemorySegment leaf, long leafAt, int slot, int ref) {
        int newest = Node.entry(leaf, leafAt, slot);
        MemorySegment chunk = arena.chunk(ref);
        long at = arena.offset(ref);
        long word = Entry.word(chunk, at);
        long timestamp = Entry.timestamp(word);
        if (timestampOf(newest) <= timestamp) {
            Entry.setOlder(chunk, at, newest);
            if (Entry.isDeep(word)) {
                linkJump(chunk, at, newest);
            }
            Node.setEntry(leaf, leafAt, slot, ref);
            if (timestampOf(newest) == timestamp) {
                arena.uncountEntry();
            }
            return;
        }
        // out of order: behind the last version that is newer
        int newer = newest;
        int older = olderThan(newer);
        while (older != 0 && timestampOf(older) > timestamp) {
            newer = older;
            older = olderThan(newer);
        }
        Entry.setOlder(chunk, at, older);
        Entry.setOlder(arena.chunk(newer), arena.offset(newer), ref);
        if (older != 0 && timestampOf(older) == timestamp) {
            arena.uncountEntry();
        }
    }

    /** Myers' rule: jump over the two equal jumps below, or else to the next version. */
    private void linkJump(MemorySegment chunk, long at, int newest) {
        int jump = jumpOf(newest);
        int depth = depthOf(newest);
        boolean equalJumps = jump != 0
                && jumpOf(jump) != 0
                && depth - depthOf(jump) == depthOf(jump) - depthOf(jumpOf(jump));
        Entry.setJump(chunk, at, equalJumps ? jumpOf(jump) : newest, depth + 1);
    }

    private int jumpOf(int ref) {
        MemorySegment chunk = arena.chunk(ref);
        long at = arena.offset(ref);
        return Entry.isDeep(Entry.word(chunk, at)) ? Entry.jump(chunk, at) : 0;
    }

    private int depthOf(int ref) {
        MemorySegment chunk = arena.chunk(ref);
        long at = arena.offset(ref);
        return Entry.isDeep(Entry.word(chunk, at)) ? Entry.depth(chunk, at) : 0;
    }

    private long timestampOf(int ref) {
        return Entry.timestamp(Entry.word(arena.chunk(ref), arena.offset(ref)));
    }

    private int olderThan(int ref) {
        return Entry.older(arena.chunk(ref), arena.offset(ref));
    }

    /**
     * Finds the newest version of {@code key} at or below {@code snapshot}.
     *
     * @param found filled in unless absent; its value only if {@code wantValue}
     * @return {@link Found#ABSENT}, {@link Found#MATTER} or {@link Found#ANTIMATTER}
     */
    public int find(Slice key, long snapshot, Found found, boolean wantValue) {
        checkOpen();
        int ref = versionAt(newestOf(key), snapshot);
        if (ref == 0) {
            return Found.ABSENT;
        }
        MemorySegment chunk = arena.chunk(ref);
        long at = arena.offset(ref);
        long word = Entry.word(chunk, at);
        found.timestamp = Entry.timestamp(word);
        found.position = ref;
        if (wantValue) {
            int length = Entry.valueLength(chunk, at);
            long valueAt = at + Entry.KEY + Entry.keyLength(word);
            if (Entry.isOversized(word)) {
                chunk = arena.oversized(chunk.get(Bytes.I32, valueAt));
                valueAt = 0;
            }
            found.value.clear().putBytes(chunk, valueAt, length);
        }
        return Entry.isAntimatter(word) ? Found.ANTIMATTER : Found.MATTER;
    }

    /** The newest version of {@code key}, 0 if there is none. */
    private int newestOf(Slice key) {
        while (true) {
            long leaf = tree.leafOf(key);
            MemorySegment chunk = arena.chunk(MemoryTree.leafRef(leaf));
            long at = arena.offset(MemoryTree.leafRef(leaf));
            int version = MemoryTree.leafVersion(leaf);
            int slot = tree.searchLeaf(chunk, at, version, key);
            if (slot == MemoryTree.CHANGED) {
                continue;
            }
            int ref = slot < 0 ? Node.entry(chunk, at, ~slot) : 0;
            if (Node.unchanged(chunk, at, version)) {
                return ref;
            }
        }
    }

    private int versionAt(int newest, long snapshot) {
        int ref = newest;
        while (ref != 0) {
            MemorySegment chunk = arena.chunk(ref);
            long at = arena.offset(ref);
            long word = Entry.word(chunk, at);
            if (Entry.timestamp(word) <= snapshot) {
                return ref;
            }
            int jump = Entry.isDeep(word) ? Entry.jump(chunk, at) : 0;
            ref = jump != 0 && timestampOf(jump) > snapshot ? jump : Entry.older(chunk, at);
        }
        return 0;
    }

    /**
     * A cursor over all versions. It shows every entry that was there when it was sought (or first
     * moved), once and in order, and may or may not show entries that were put since.
     */
    public EntryCursor cursor() {
        checkOpen();
        return new MemoryCursor(this, arena, tree, false);
    }

    /** The same, for somebody who will read every value, as a flush does. */
    public EntryCursor valueCursor() {
        checkOpen();
        return new MemoryCursor(this, arena, tree, true);
    }

    /**
     * Memory used, in bytes, nodes included; exact to a block of at most 128 KiB a writer. Cheap.
     */
    public long bytesUsed() {
        return arena.bytesUsed();
    }

    /** Entries put, all versions counted; puts in progress may be counted already. Cheap. */
    public long entryCount() {
        return arena.entryCount();
    }

    /** Gives the memory back; nobody may be inside. */
    @Override
    public void close() {
        closed = true;
        arena.close();
    }

    /** Throws after {@link #close()}, as a courtesy to a caller who has lost count. */
    void checkOpen() {
        if (closed) {
            throw new ClosedException("the memory component");
        }
    }
}
