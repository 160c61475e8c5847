package io.turbidite.hashlog.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Vectors, words and Jackson must agree, on what is JSON and what once was. */
class JsonCrossCheckTest {
    private static final String NAME = "JsonCrossCheckTest";
    private static final String[] PATHS = {
        "id",
        "a",
        "a.b",
        "b.id",
        "type",
        "repository_id",
        "`é`",
        "`x\"y`",
        "a[1]",
        "b[0].id",
        "`long name 64`.a"
    };
    private static final List<FieldPath> FIELDS = Parsed.paths(PATHS);

    private final long seed = Seeds.of(NAME);
    private final SplittableRandom random = new SplittableRandom(seed);
    private final RandomJson json = new RandomJson(random);
    private final RecordParser words = Parsed.json(ScanMode.WORDS, PATHS);
    private final RecordParser best = Parsed.json(ScanMode.best(), PATHS);

    @Test
    void random_documents_read_the_same_three_ways() {
        for (int round = 0; round < 6_000; round++) {
            byte[] record = json.next();
            String message =
                    new String(record, StandardCharsets.UTF_8) + "\n" + Seeds.replay(NAME, seed);
            Map<?, ?> expected = Reference.read(record);
            assertThat(expected).as(message).isNotNull();
            for (RecordParser parser : List.of(words, best)) {
                assertThat(Parsed.parse(parser, record, random.nextInt(70)))
                        .as(message)
                        .isTrue();
                for (int f = 0; f < FIELDS.size(); f++) {
                    assertThat(Reference.found(parser.values(), f))
                            .as("%s in %s", PATHS[f], message)
                            .isEqualTo(Reference.at(expected, FIELDS.get(f)));
                }
            }
        }
    }

    /** Whatever is refused is malformed, and both ways find the same, at the same place. */
    @Test
    void mutated_documents_are_refused_only_if_they_are_malformed() {
        int refused = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] record = json.next();
            int changes = 1 + random.nextInt(3);
            for (int i = 0; i < changes && record.length > 0; i++) {
                record = mutate(record);
            }
            String message = new String(record, StandardCharsets.ISO_8859_1) + "\n"
                    + Seeds.replay(NAME, seed);
            String outcome = Parsed.outcome(words, record);
            assertThat(Parsed.outcome(best, record)).as(message).isEqualTo(outcome);
            if (outcome.startsWith("the record")) {
                refused++;
                // Jackson takes half a surrogate pair, which has no UTF-8, and code points past the
                // last
                boolean lenient = outcome.contains("malformed escape")
                        || (outcome.contains("not UTF-8") && !Utf8.isValid(Slice.of(record)));
                if (!lenient) {
                    assertThat(Reference.read(record))
                            .as("%s: %s", outcome, message)
                            .isNull();
                }
            }
        }
        assertThat(refused).isGreaterThan(5_000);
    }

    private byte[] mutate(byte[] record) {
        int at = random.nextInt(record.length);
        String interesting = "{}[],:\"\\0e-. \n\t\u0001truefalsn\u00e9";
        return switch (random.nextInt(4)) {
            case 0 -> {
                record[at] = (byte) interesting.charAt(random.nextInt(interesting.length()));
                yield record;
            }
            case 1 -> {
                record[at] ^= (byte) (1 << random.nextInt(8));
                yield record;
            }
            case 2 -> Arrays.copyOf(record, at);
            default -> {
                byte[] less = new byte[record.length - 1];
                System.arraycopy(record, 0, less, 0, at);
                System.arraycopy(record, at + 1, less, at, less.length - at);
                yield less;
            }
        };
    }

    /** Bytes without any sense: an answer, in time, from both. */
    @Test
    void any_bytes_get_an_answer() {
        byte[] alphabet = "{}[],:\"\"\"\\\\ae1 \n".getBytes(StandardCharsets.US_ASCII);
        for (int round = 0; round < 20_000; round++) {
            byte[] record = new byte[random.nextInt(300)];
            boolean anything = random.nextInt(4) == 0;
            for (int i = 0; i < record.length; i++) {
                record[i] = anything
                        ? (byte) random.nextInt()
                        : alphabet[random.nextInt(alphabet.length)];
            }
            if (record.length > 8 && round % 2 == 0) {
                System.arraycopy("{\"a\":[{".getBytes(StandardCharsets.US_ASCII), 0, record, 0, 7);
            }
            assertThat(Parsed.outcome(best, record)).isEqualTo(Parsed.outcome(words, record));
        }
    }

    @Test
    void the_masks_of_random_blocks_are_those_of_a_byte_by_byte_look() {
        StructuralIndex fast = new StructuralIndex(ScanMode.best().newMasks(), new RecordBytes());
        byte[] bytes = new byte[64 * StructuralIndex.WINDOW_BLOCKS];
        for (int round = 0; round < 2_000; round++) {
            for (int i = 0; i < bytes.length; i++) {
                int c = random.nextInt(4) == 0
                        ? "{}[],\"\\".charAt(random.nextInt(7))
                        : random.nextInt(256);
                bytes[i] = (byte) (random.nextInt(8) == 0 ? c ^ 0x80 : c);
            }
            for (BlockMasks masks :
                    List.of(ScanMode.best().newMasks(), ScanMode.WORDS.newMasks())) {
                masks.read(bytes, 0, StructuralIndex.WINDOW_BLOCKS, fast);
                for (int i = 0; i < bytes.length; i++) {
                    String found = "" + bit(fast.quotes, i) + bit(fast.slashes, i)
                            + bit(fast.opens, i) + bit(fast.closes, i) + bit(fast.separators, i);
                    char c = (char) (bytes[i] & 0xFF);
                    String expected = "" + (c == '"' ? 1 : 0) + (c == '\\' ? 1 : 0)
                            + (c == '{' || c == '[' ? 1 : 0) + (c == '}' || c == ']' ? 1 : 0)
                            + (c == ',' ? 1 : 0);
                    if (!found.equals(expected)) {
                        assertThat(found).as("%02x of %s", (int) c, masks).isEqualTo(expected);
                    }
                }
            }
        }
    }

    private static int bit(long[] masks, int i) {
        return (int) (masks[i >>> 6] >>> i) & 1;
    }
}
