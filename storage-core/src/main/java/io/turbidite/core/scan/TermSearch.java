package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.TokenKeys;

import java.util.List;

/**
 * Asks an inverted index for the records that have all of some terms, or at least so many of them,
 * and gets each once, in the order of primary keys. An entry is shown under one of the terms, the
 * same for all records; if not all terms are wanted it is the first one, whether the record has it
 * or not.
 *
 * <p>Of a term of more than {@value TokenKeys#TOKEN_BYTES_MAX} bytes, records may come that have
 * another with the same beginning.
 *
 * @param terms as the index's tokenizer makes them; at least one
 * @param least how many of them a record must have, from 1 to all
 */
public record TermSearch(List<String> terms, int least) implements IndexSearch {
    public TermSearch {
        terms = terms.stream().distinct().toList();
        if (terms.isEmpty()) {
            throw new IllegalArgumentException("there is no term to search");
        }
        if (least < 1 || least > terms.size()) {
            throw new IllegalArgumentException(
                    "%d of %d different terms".formatted(least, terms.size()));
        }
    }

    /** For the records that have all of the terms. */
    public TermSearch(List<String> terms) {
        this(terms, (int) terms.stream().distinct().count());
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
