package io.turbidite.core.index;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.text.WordCursor;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The entry keys of an inverted index: one for each distinct token of a text; none for an absent
 * text, or one without tokens.
 *
 * <p>A secondary key is the token's UTF-8 and a mark that ends it. Of a token of more than {@value
 * #TOKEN_BYTES_MAX} bytes that many are kept, and the mark says so: other tokens may have the same
 * key, so whoever finds it must look at the record.
 *
 * <pre>
 * whole token   the bytes, 01
 * cut token     the first 255 bytes, 00
 * </pre>
 *
 * <p>Tokens have no byte below 30, so a mark is nothing else, and the order of the keys is that of
 * the tokens.
 *
 * @param field the string's name
 * @param fieldIndex its place in the type
 * @param tokenizer makes the tokens
 * @param tables what tokens depended on where the index was made ({@link Tokenizer#tables})
 * @param use who it is for, in messages
 */
public record TokenKeys(
        RecordType type,
        String field,
        int fieldIndex,
        Tokenizer tokenizer,
        String tables,
        String use)
        implements EntryKeys {
    /** Most bytes of a token that a key holds. */
    public static final int TOKEN_BYTES_MAX = 255;

    /** Names the tokenizer among the parameters. */
    public static final String TOKENIZER = "tokenizer";

    /** Names the tables. */
    public static final String TABLES = "tables";

    private static final int CUT = 0x00;
    private static final int WHOLE = 0x01;

    /**
     * The keys of a text.
     *
     * @param parameters what the index was made with, or what a user says: {@link #TOKENIZER}, by
     *     default word; {@link #TABLES}, by default those of this process
     * @throws InvalidRequestException if there is not one field, a string, or a parameter is wrong
     */
    public static TokenKeys of(
            RecordType type, List<String> fields, String use, Map<String, String> parameters) {
        if (fields.size() != 1) {
            throw new InvalidRequestException(
                    "%s: an inverted index is on one field, not on %s".formatted(use, fields));
        }
        String field = fields.getFirst();
        int fieldIndex = type.require(field, use);
        TypeKind kind = type.field(fieldIndex).kind();
        if (kind != TypeKind.STRING) {
            throw new InvalidRequestException(
                    "%s: an inverted index is on a string, and '%s' is of type %s"
                            .formatted(use, field, kind.label()));
        }
        TreeSet<String> unknown = new TreeSet<>(parameters.keySet());
        unknown.removeAll(List.of(TOKENIZER, TABLES));
        if (!unknown.isEmpty()) {
            throw new InvalidRequestException("%s: an inverted index takes the parameter %s, not %s"
                    .formatted(use, TOKENIZER, unknown));
        }
        Tokenizer tokenizer =
                Tokenizer.ofLabel(parameters.getOrDefault(TOKENIZER, Tokenizer.WORD.label()), use);
        String tables = parameters.getOrDefault(TABLES, "");
        return new TokenKeys(
                type,
                field,
                fieldIndex,
                tokenizer,
                tables.isEmpty() ? tokenizer.tables() : tables,
                use);
    }

    @Override
    public List<String> fields() {
        return List.of(field);
    }

    @Override
    public Map<String, String> parameters() {
        return Map.copyOf(new TreeMap<>(Map.of(TOKENIZER, tokenizer.label(), TABLES, tables)));
    }

    @Override
    public boolean isMultiValued() {
        return true;
    }

    @Override
    public void append(RecordView record, Slice primaryKey, EntryKeyList keys) {
        if (record.isAbsent(fieldIndex)) {
            return;
        }
        WordCursor words = keys.words().wrap(record.getBytes(fieldIndex));
        ByteSink sink = keys.sink();
        boolean whole = false;
        try {
            while (words.next()) {
                int start = sink.length();
                words.append(sink, TOKEN_BYTES_MAX);
                sink.putByte(words.byteCount() > TOKEN_BYTES_MAX ? CUT : WHOLE);
                keys.addIfNew(start, primaryKey, use);
                if (keys.count() > COUNT_MAX) {
                    throw new InvalidRequestException(
                            "%s: the text has more than %,d different tokens, the limit"
                                    .formatted(use, COUNT_MAX));
                }
            }
            keys.sort();
            whole = true;
        } finally {
            if (!whole) {
                keys.clear();
            }
        }
    }

    /**
     * The secondary key of a token.
     *
     * @param token as the tokenizer makes them
     */
    public static byte[] encode(String token) {
        byte[] utf8 = token.getBytes(StandardCharsets.UTF_8);
        int byteCount = Math.min(utf8.length, TOKEN_BYTES_MAX);
        byte[] key = Arrays.copyOf(utf8, byteCount + 1);
        key[byteCount] = (byte) (utf8.length > TOKEN_BYTES_MAX ? CUT : WHOLE);
        return key;
    }

    /** Whether an index with these parameters has the tokens that a tokenizer makes now. */
    public static boolean hasTokensOf(Tokenizer tokenizer, Map<String, String> parameters) {
        return tokenizer.label().equals(parameters.get(TOKENIZER))
                && tokenizer.tables().equals(parameters.get(TABLES));
    }

    /** The token of a key, for people; of a cut one the beginning. */
    public String decode(Slice entryKey) {
        Slice token = new Slice()
                .set(entryKey.segment(), entryKey.offset(), secondaryBytes(entryKey) - 1);
        return token.toUtf8();
    }

    @Override
    public int secondaryBytes(Slice entryKey) {
        for (int i = 0; i < entryKey.length(); i++) {
            int b = entryKey.segment().get(Bytes.U8, entryKey.offset() + i);
            if (b == WHOLE || b == CUT) {
                return i + 1;
            }
        }
        throw new CorruptionException(use, 0, "key", "a token and its end", entryKey.toString());
    }

    @Override
    public EntryKeys renewed() {
        return new TokenKeys(type, field, fieldIndex, tokenizer, tokenizer.tables(), use);
    }

    @Override
    public String outdated() {
        return tables.equals(tokenizer.tables())
                ? ""
                : "its words were told by another version of Unicode than this Java has";
    }

    /** Whoever asks: the keys are the same. */
    @Override
    public boolean equals(Object other) {
        return other instanceof TokenKeys keys
                && type.equals(keys.type)
                && field.equals(keys.field)
                && tokenizer == keys.tokenizer
                && tables.equals(keys.tables);
    }

    @Override
    public int hashCode() {
        return java.util.Objects.hash(field, tokenizer, tables);
    }
}
