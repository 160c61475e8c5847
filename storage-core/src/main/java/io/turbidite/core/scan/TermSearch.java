package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.TokenKeys;

import java.util.List;

/**
 * Asks an inverted index for the records that have all of some terms, and gets one entry of each:
 * that of one of the terms, the same for all records. So entries come in the order of primary keys,
 * and no record twice.
 *
 * <p>Of a term of more than {@value TokenKeys#TOKEN_BYTES_MAX} bytes, records may come that have
 * another with the same beginning.
 *
 * @param terms as the index's tokenizer makes them; at least one
 */
public record TermSearch(List<String> terms) implements IndexSearch {
    public TermSearch {
        terms = terms.stream().distinct().toList();
        if (terms.isEmpty()) {
            throw new IllegalArgumentException("there is no term to search");
        }
    }

    /** The secondary key of one of the terms. */
    public byte[] secondaryKey(int term) {
        return TokenKeys.encode(terms.get(term));
    }

    /** The entries of one of the terms. */
    public KeyRange entries(int term) {
        return KeyRange.startingWith(secondaryKey(term));
    }

    /** Whether it is an entry of one of the terms. */
    @Override
    public boolean contains(Slice entryKey) {
        for (int i = 0; i < terms.size(); i++) {
            if (entries(i).contains(entryKey)) {
                return true;
            }
        }
        return false;
    }
}
