package io.turbidite.core.index;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.text.TokenCursor;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The entry keys of an inverted index: one for each distinct token of a text, or of all elements of
 * an array of texts; none for an absent text, or one without tokens.
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
 * <p>Of the bytes 00, 01 and 02, which a token may have that is not of words, each is 02 and then
 * 03, 04 or 05. So a mark is nothing else, and the order of the keys is that of the tokens.
 *
 * @param field the string's name
 * @param fieldIndex its place in the type
 * @param tokenizer makes the tokens
 * @param tables what tokens depended on where the index was made ({@link Tokenizer#tables}); empty
 *     for those of this process, which are told when somebody asks
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

    /** Stands before a byte up to itself, which is then {@link #ESCAPED} more. */
    private static final int ESCAPE = 0x02;

    private static final int ESCAPED = 0x03;

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
        if (tables.isEmpty()) {
            tokenizer.requireAvailable(use);
        }
        return new TokenKeys(type, field, fieldIndex, tokenizer, tables, use);
    }

    @Override
    public List<String> fields() {
        return List.of(field);
    }

    @Override
    public Map<String, String> parameters() {
        String told = tables.isEmpty() ? tokenizer.tables() : tables;
        return Map.copyOf(new TreeMap<>(Map.of(TOKENIZER, tokenizer.label(), TABLES, told)));
    }

    @Override
    public boolean isMultiValued() {
        return true;
    }

    @Override
    public void append(RecordView record, Slice primaryKey, EntryKeyList keys) {
        boolean isEach = type.isEach(fieldIndex);
        if (isEach ? !record.firstElement(fieldIndex) : record.isAbsent(fieldIndex)) {
            return;
        }
        boolean whole = false;
        try {
            do {
                appendText(record.getBytes(fieldIndex), primaryKey, keys);
            } while (isEach && record.nextElement(fieldIndex));
            keys.sort();
            whole = true;
        } finally {
            if (!whole) {
                keys.clear();
            }
        }
    }

    private void appendText(Slice text, Slice primaryKey, EntryKeyList keys) {
        TokenCursor tokens = keys.tokens(tokenizer).wrap(text);
        ByteSink sink = keys.sink();
        while (tokens.next()) {
            int start = sink.length();
            tokens.append(sink, TOKEN_BYTES_MAX);
            if (tokenizer.kind() != Tokenizer.Kind.WORD) {
                escape(sink, start);
            }
            sink.putByte(tokens.byteCount() > TOKEN_BYTES_MAX ? CUT : WHOLE);
            keys.addIfNew(start, primaryKey, use);
            if (keys.count() > COUNT_MAX) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "%s: the text has more than %,d different tokens, the limit",
                        use,
                        COUNT_MAX));
            }
        }
    }

    /** Puts the escape before bytes from {@code start} on that need it; mostly there are none. */
    private static void escape(ByteSink sink, int start) {
        int end = sink.length();
        int count = 0;
        for (int i = start; i < end; i++) {
            count += isEscaped(sink.segment().get(Bytes.U8, i)) ? 1 : 0;
        }
        if (count == 0) {
            return;
        }
        sink.reserve(count);
        MemorySegment bytes = sink.segment();
        int to = sink.length();
        for (int i = end - 1; i >= start; i--) {
            byte b = bytes.get(Bytes.U8, i);
            if (isEscaped(b)) {
                bytes.set(Bytes.U8, --to, (byte) (b + ESCAPED));
                bytes.set(Bytes.U8, --to, (byte) ESCAPE);
            } else {
                bytes.set(Bytes.U8, --to, b);
            }
        }
    }

    private static boolean isEscaped(byte b) {
        return b >= 0 && b <= ESCAPE;
    }

    /**
     * The secondary key of a token.
     *
     * @param token as the tokenizer makes them
     */
    public static byte[] encode(String token) {
        return encode(token, true);
    }

    /** The beginning of the secondary keys of all tokens that begin so. */
    public static byte[] encodeBeginning(String beginning) {
        return encode(beginning, false);
    }

    private static byte[] encode(String token, boolean isWhole) {
        byte[] utf8 = token.getBytes(StandardCharsets.UTF_8);
        ByteSink key = new ByteSink(64, 2 * TOKEN_BYTES_MAX + 2);
        key.putBytes(MemorySegment.ofArray(utf8), 0, Math.min(utf8.length, TOKEN_BYTES_MAX));
        escape(key, 0);
        if (isWhole || utf8.length > TOKEN_BYTES_MAX) {
            key.putByte(utf8.length > TOKEN_BYTES_MAX ? CUT : WHOLE);
        }
        return key.asSlice(new Slice()).toByteArray();
    }

    /**
     * Bytes of the secondary key that an entry key begins with, its mark included; -1 if it has no
     * mark.
     */
    public static int tokenBytes(Slice entryKey) {
        int length = entryKey.length();
        for (int i = 0; i < length; i++) {
            int b = entryKey.segment().get(Bytes.U8, entryKey.offset() + i);
            if (b == WHOLE || b == CUT) {
                return i + 1;
            }
        }
        return -1;
    }

    /** Whether a token is so long that other ones may have its key. */
    public static boolean isCut(String token) {
        return token.getBytes(StandardCharsets.UTF_8).length > TOKEN_BYTES_MAX;
    }

    /** The tokenizer of an index with these parameters; null if its tables are others now. */
    public static @Nullable Tokenizer tokenizer(Map<String, String> parameters) {
        String label = parameters.getOrDefault(TOKENIZER, "");
        if (!Tokenizer.isLabel(label)) {
            return null;
        }
        Tokenizer tokenizer = Tokenizer.ofLabel(label, "index");
        return tokenizer.isMadeBy(parameters.getOrDefault(TABLES, "")) ? tokenizer : null;
    }

    /** The token of a key, for people; of a cut one the beginning. */
    public String decode(Slice entryKey) {
        return decode(entryKey, secondaryBytes(entryKey) - 1);
    }

    /** What {@link #encodeBeginning} was given, for people. */
    public static String decodeBeginning(Slice beginning) {
        int byteCount = beginning.length();
        boolean isMarked = byteCount > 0 && beginning.byteAt(byteCount - 1) == CUT;
        return decode(beginning, isMarked ? byteCount - 1 : byteCount);
    }

    private static String decode(Slice entryKey, int byteCount) {
        byte[] token = new byte[byteCount];
        int length = 0;
        for (int i = 0; i < byteCount; i++) {
            int b = entryKey.byteAt(i);
            boolean isEscape = b == ESCAPE && i + 1 < byteCount;
            token[length++] = (byte) (isEscape ? entryKey.byteAt(++i) - ESCAPED : b);
        }
        return new String(token, 0, length, StandardCharsets.UTF_8);
    }

    @Override
    public int secondaryBytes(Slice entryKey) {
        int bytes = tokenBytes(entryKey);
        if (bytes > 0) {
            return bytes;
        }
        throw new CorruptionException(use, 0, "key", "a token and its end", entryKey.toString());
    }

    @Override
    public EntryKeys renewed() {
        tokenizer.requireAvailable(use);
        return new TokenKeys(type, field, fieldIndex, tokenizer, "", use);
    }

    @Override
    public String outdated() {
        return tables.isEmpty() || tokenizer.isMadeBy(tables)
                ? ""
                : tokenizer.kind() == Tokenizer.Kind.ANALYZER
                        ? "its tokens were made by another Lucene or Unicode than are here"
                        : "its words were told by another version of Unicode than this Java has";
    }

    /** Whoever asks: the keys are the same. */
    @Override
    public boolean equals(Object other) {
        return other instanceof TokenKeys keys
                && type.equals(keys.type)
                && field.equals(keys.field)
                && tokenizer.equals(keys.tokenizer)
                && hasTablesOf(keys);
    }

    private boolean hasTablesOf(TokenKeys other) {
        if (tables.isEmpty() || other.tables.isEmpty()) {
            String kept = tables.isEmpty() ? other.tables : tables;
            return kept.isEmpty() || tokenizer.isMadeBy(kept);
        }
        return tokenizer.isSame(tables, other.tables);
    }

    @Override
    public boolean hasParametersOf(EntryKeys other) {
        return other instanceof TokenKeys keys
                && tokenizer.equals(keys.tokenizer)
                && hasTablesOf(keys);
    }

    @Override
    public int hashCode() {
        return java.util.Objects.hash(field, tokenizer);
    }
}
