package io.turbidite.hashlog.table;

import java.util.Arrays;

/**
 * What a bucket and its overflow buckets hold, in a form that survives in a checkpoint: a word for
 * each entry, whose meaning is the table's, and whether the bucket is folded. <em>Confined to one
 * thread;</em> reused.
 */
public final class BucketEntries {
    private long[] words = new long[2 * Buckets.ENTRY_COUNT];
    private int count;
    private boolean folded;

    /** Forgets all entries. */
    public void clear(boolean isFolded) {
        count = 0;
        folded = isFolded;
    }

    public void add(long word) {
        if (count == words.length) {
            words = Arrays.copyOf(words, 2 * count);
        }
        words[count++] = word;
    }

    public int count() {
        return count;
    }

    /** The entry word. In a folded bucket the first is what tags without an entry share. */
    public long word(int i) {
        return words[i];
    }

    /** The newest address of the entry's chain. */
    public static long address(long word) {
        return EntryWord.address(word);
    }

    /** Whether {@code word} can be an entry. */
    public static boolean isEntry(long word) {
        return !EntryWord.isFrozen(word)
                && (word & EntryWord.ZERO_MASK) == 0
                && EntryWord.address(word) != 0;
    }

    /** Whether tags without an entry share the chain of the first. */
    public boolean isFolded() {
        return folded;
    }
}
