package io.turbidite.hashlog.psf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.parse.ParserSpec;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Definitions, what they make of records, and what a user looks for. */
class PsfTest {
    private static String of(String definition, String record) {
        return Records.properties(Records.json(definition), record);
    }

    @Test
    void a_projection_takes_strings_numbers_and_booleans() {
        assertThat(of("field(a)", "{\"a\":\"x\"}")).isEqualTo("0=\"x\"");
        assertThat(of("field(a)", "{\"a\":7}")).isEqualTo("0=7");
        assertThat(of("field(a)", "{\"a\":true}")).isEqualTo("0=tR");
        assertThat(of("field(a)", "{\"a\":2.50}")).isEqualTo("0=25e-1R");
        assertThat(of("field(a)", "{\"a\":\"\"}")).isEqualTo("0=\"\"");
    }

    @Test
    void what_is_missing_null_or_a_container_has_no_value() {
        for (String record :
                List.of("{}", "{\"a\":null}", "{\"a\":{\"b\":1}}", "{\"a\":[1]}", "{\"b\":1}")) {
            assertThat(of("field(a)", record)).as(record).isEmpty();
        }
    }

    @Test
    void integers_of_64_bits_keep_every_bit() {
        assertThat(of("field(a)", "{\"a\":9007199254740993}")).isEqualTo("0=9007199254740993");
        assertThat(of("field(a)", "{\"a\":9223372036854775807}"))
                .isEqualTo("0=9223372036854775807");
        assertThat(of("field(a)", "{\"a\":-9223372036854775808}"))
                .isEqualTo("0=-9223372036854775808");
        assertThat(of("field(a)", "{\"a\":9223372036854775808}"))
                .isEqualTo("0=9223372036854775808e0R");
        assertThat(of("field(a)", "{\"a\":4294967297}")).isNotEqualTo(of("field(a)", "{\"a\":1}"));
    }

    @Test
    void equal_numbers_are_one_value_however_they_are_written() {
        for (String five : List.of("5", "5.0", "50e-1", "0.5e1", "5.000", "5E0", "0.0005e+4")) {
            assertThat(of("field(a)", "{\"a\":" + five + "}")).as(five).isEqualTo("0=5");
        }
        for (String number : List.of("1.5", "15e-1", "1.50", "0.15E1")) {
            assertThat(of("field(a)", "{\"a\":" + number + "}")).as(number).isEqualTo("0=15e-1R");
        }
        assertThat(of("field(a)", "{\"a\":-0.0}")).isEqualTo("0=0");
        assertThat(of("field(a)", "{\"a\":1e30}")).isEqualTo("0=1e30R");
        assertThat(of("field(a)", "{\"a\":-1.25e-7}")).isEqualTo("0=-125e-9R");
    }

    /** Beyond what is kept of an exponent numbers can't be told apart, so they are no property. */
    @Test
    void numbers_with_exponents_beyond_bounds_are_never_one_property() {
        String most = "100000000000000000";
        assertThat(of("field(a)", "{\"a\":1e" + most + "}")).isEqualTo("0=1e" + most + "R");
        assertThat(of("field(a)", "{\"a\":1e-" + most + "}")).isEqualTo("0=1e-" + most + "R");
        // the number counts, not how it is written
        assertThat(of("field(a)", "{\"a\":10e" + most + "}")).isEmpty();
        assertThat(of("field(a)", "{\"a\":0.1e100000000000000001}")).isEqualTo("0=1e" + most + "R");
        for (String beyond :
                List.of("100000000000000001", "200000000000000000", "99999999999999999999999999")) {
            for (String number : List.of("1e" + beyond, "-2.5E-" + beyond, "7e+" + beyond)) {
                assertThat(of("field(a)", "{\"a\":" + number + "}")).as(number).isEmpty();
            }
            // comparisons need no more than its size
            assertThat(of("ranges(a, 0, 1)", "{\"a\":1e-" + beyond + "}")).isEqualTo("0=0");
            assertThat(of("ranges(a, 0, 1)", "{\"a\":1e" + beyond + "}")).isEmpty();
            assertThat(of("field(a)", "{\"a\":-0.0e" + beyond + "}")).isEqualTo("0=0");
        }
        assertThat(of("field(a)", "{\"a\":1e000000000000000000000005}")).isEqualTo("0=100000");
    }

    @Test
    void equal_strings_have_one_hash_however_they_are_spelt() {
        Properties plain = new Properties();
        Properties escaped = new Properties();
        PropertyExtractor extractor = Records.json("field(a)").newExtractor();
        MemorySegment first = Records.of("{\"a\":\"a/b\"}");
        MemorySegment second = Records.of("{\"a\":\"\\u0061\\/b\"}");
        assertThat(extractor.extract(first, 0, (int) first.byteSize(), plain)).isTrue();
        assertThat(extractor.extract(second, 0, (int) second.byteSize(), escaped))
                .isTrue();
        assertThat(plain.mode(0)).isEqualTo(PropertyMode.PAYLOAD);
        assertThat(escaped.mode(0)).isEqualTo(PropertyMode.REGION);
        assertThat(escaped.hash(0)).isEqualTo(plain.hash(0));
        PropertyValue value = PropertyValue.of("a/b");
        assertThat(value.hash(0)).isEqualTo(plain.hash(0));
        assertThat(value.matches(first, plain.offset(0), plain.length(0))).isTrue();
        assertThat(value.matches(escaped.region(), escaped.offset(0), escaped.length(0)))
                .isTrue();
        assertThat(value.matches(second, 6, 3)).isFalse();
    }

    @Test
    void values_of_different_types_differ() {
        Set<PropertyValue> values = new HashSet<>(List.of(
                PropertyValue.of(1),
                PropertyValue.of("1"),
                PropertyValue.of(true),
                PropertyValue.of("true"),
                PropertyValue.of("t"),
                PropertyValue.of(new BigDecimal("1.5")),
                PropertyValue.of("15e-1"),
                PropertyValue.of(Double.doubleToLongBits(1.5))));
        assertThat(values).hasSize(8);
        Set<Long> hashes = new HashSet<>();
        values.forEach(value -> hashes.add(value.hash(3)));
        values.forEach(value -> hashes.add(value.hash(4)));
        assertThat(hashes).hasSize(16);
    }

    @Test
    void buckets_round_down() {
        assertThat(of("bucket(a, 10)", "{\"a\":37.5}")).isEqualTo("0=3");
        assertThat(of("bucket(a, 10)", "{\"a\":30}")).isEqualTo("0=3");
        assertThat(of("bucket(a, 10)", "{\"a\":-0.5}")).isEqualTo("0=-1");
        assertThat(of("bucket(a, 10)", "{\"a\":-10}")).isEqualTo("0=-1");
        assertThat(of("bucket(a, 10)", "{\"a\":-10.01}")).isEqualTo("0=-2");
        assertThat(of("bucket(a, 10)", "{\"a\":0.000001}")).isEqualTo("0=0");
        assertThat(of("bucket(a, 10)", "{\"a\":1e25}")).isEmpty();
        assertThat(of("bucket(a, 10)", "{\"a\":\"37\"}")).isEmpty();
    }

    @Test
    void ranges_include_their_lower_bounds() {
        String ranges = "ranges(a, 0, 15, 75.5, 100)";
        assertThat(of(ranges, "{\"a\":-0.1}")).isEmpty();
        assertThat(of(ranges, "{\"a\":0}")).isEqualTo("0=0");
        assertThat(of(ranges, "{\"a\":14.999}")).isEqualTo("0=0");
        assertThat(of(ranges, "{\"a\":15}")).isEqualTo("0=1");
        assertThat(of(ranges, "{\"a\":75.5}")).isEqualTo("0=2");
        assertThat(of(ranges, "{\"a\":100}")).isEmpty();
    }

    @Test
    void prefixes_count_characters() {
        assertThat(of("prefix(a, 2)", "{\"a\":\"é東x\"}")).isEqualTo("0=\"é東\"");
        assertThat(of("prefix(a, 2)", "{\"a\":\"x\"}")).isEqualTo("0=\"x\"");
        assertThat(of("prefix(a, 2)", "{\"a\":\"\\u00e9\\u6771x\"}")).isEqualTo("0=\"é東\"R");
        assertThat(of("prefix(a, 2)", "{\"a\":12}")).isEmpty();
    }

    @Test
    void a_function_gives_integers_texts_fields_or_nothing() {
        PsfFunction sum = (values, fields, result) -> {
            if (values.kind(fields[0]).isNumber() && values.kind(fields[1]).isNumber()) {
                result.integer(values.integer(fields[0]) + values.integer(fields[1]));
            } else if (values.kind(fields[0]).isText()) {
                int length = values.byteCount(fields[0]);
                result.text(values.bytes(fields[0]), values.offset(fields[0]) + 1, length - 1);
            } else {
                result.field(fields[1]);
            }
        };
        PsfFunctions functions = new PsfFunctions(Map.of("sum", sum));
        PsfSet set = PsfSet.empty(new ParserSpec.Json(), functions)
                .with(9, PsfDefinition.parse("function(sum, a, b.c)"));
        assertThat(Records.properties(set, "{\"a\":1,\"b\":{\"c\":2}}")).isEqualTo("9=3");
        assertThat(Records.properties(set, "{\"a\":\"xyz\"}")).isEqualTo("9=\"yz\"R");
        assertThat(Records.properties(set, "{\"b\":{\"c\":\"q\"}}")).isEqualTo("9=\"q\"");
        assertThat(Records.properties(set, "{}")).isEmpty();
        assertThatThrownBy(() -> PsfSet.parse(set.text(), PsfFunctions.NONE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no function is registered as 'sum'");
        assertThat(PsfSet.parse(set.text(), functions)).isEqualTo(set);
    }

    @Test
    void text_forms_are_the_same_where_people_write_other_digits() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            assertThat("%d".formatted(12)).as("the locale matters").isNotEqualTo("12");
            for (String text : List.of("bucket(cpu, 10)", "prefix(repo.name, 8)")) {
                assertThat(PsfDefinition.parse(text).text()).isEqualTo(text);
            }
            assertThat(ParserSpec.parse("binary(id:i64@1)").text()).isEqualTo("binary(id:i64@1)");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void text_forms_read_back() {
        for (String text : List.of(
                "field(actor.id)",
                "field(commits[0].sha)",
                "field(`odd name`.`in`.x)",
                "where(type == \"PushEvent\" && repo.id > 10)",
                "where(a == \"q\\\"\\\\\\n\\u0001é\" || b != null && (c || d !^= \"x\"))",
                "bucket(cpu, 10)",
                "ranges(cpu, -1.5, 0, 15)",
                "prefix(repo.name, 8)",
                "function(`my own`, a, b)")) {
            PsfDefinition definition = PsfDefinition.parse(text);
            assertThat(PsfDefinition.parse(definition.text())).as(text).isEqualTo(definition);
            assertThat(PsfDefinition.parse(definition.text()).text()).isEqualTo(definition.text());
        }
        PsfSet set = Records.json("field(a)", "where(a > 1)", "bucket(b, 5)").without(1);
        assertThat(set.text()).isEqualTo("json\n0 field(a)\n2 bucket(b, 5)");
        assertThat(PsfSet.parse(set.text(), PsfFunctions.NONE)).isEqualTo(set);
        assertThat(set.ids()).containsExactly(0, 2);
    }

    @Test
    void wrong_definitions_are_refused_with_the_position() {
        assertRefused("fild(a)", "at position 0: expected field(…)");
        assertRefused("field(a", "at position 7: expected ')', found the end");
        assertRefused("field(a..b)", "at position 8: expected a name, found '.b)'");
        assertRefused("field(a[x])", "at position 8: expected an index");
        assertRefused("field(true)", "at position 6: 'true' is a keyword");
        assertRefused("field(a) x", "at position 9: expected nothing more, found 'x'");
        assertRefused("bucket(a, 0)", "at position 10: expected an integer of 1 to");
        assertRefused("ranges(a, 5, 5)", "the bounds of ranges ascend, but 5 comes before 5");
        assertRefused("ranges(a, 5)", "ranges have 2 to 256 bounds, not 1");
        assertRefused("where(a > true)", "at position 10: true has no order");
        assertRefused("where(a ^= 5)", "at position 11: '^=' needs a string");
        assertRefused(
                "where(a == )", "at position 11: expected a field, a function, a string, a number");
        assertRefused("where(a == \"x)", "at position 11: this string does not end");
        assertRefused("where(a == 01)", "at position 11: expected a number");
        assertRefused("where(a ~ 1)", "at position 8: expected ')'");
        assertRefused("where(a == b)", "at position 0: 'a == b' is nothing that a log can test");
        assertRefused("where(lower(a) == \"b\")", "'lower(a) == \"b\"' is nothing that a log");
        assertRefused("where(a == :b)", "'a == :b' is nothing that a log can test");
        assertRefused(
                "where(" + "(".repeat(40) + "a" + ")".repeat(40) + ")",
                "nested deeper than the limit of 32");
        assertRefused(
                "where(" + "a || ".repeat(256) + "a)", "more comparisons than the limit of 256");
        assertRefused("x".repeat(9_000), "longer than the limit of 8192");
        PsfSet set = Records.json("field(a)");
        assertThatThrownBy(() -> set.with(0, PsfDefinition.parse("field(b)")))
                .hasMessageContaining("is taken");
        assertThatThrownBy(() -> set.with(1 << 14, PsfDefinition.parse("field(b)")))
                .hasMessageContaining("not within 0..16383");
        String in = "where(a in (" + "\"xxxxxxxxxxxxxxxxxxxxxxxxx\", ".repeat(250) + "\"y\"))";
        assertThatThrownBy(() -> set.with(1, PsfDefinition.parse(in)))
                .hasMessageContaining("longer than the limit");
        assertThatThrownBy(() -> set.without(1)).hasMessageContaining("no PSF of id 1");
        assertThatThrownBy(() -> PsfSet.parse("json\n0 field(a)\n0 field(b)", PsfFunctions.NONE))
                .hasMessageContaining("line 3 of the PSFs: PSF id 0 comes twice");
    }

    private static void assertRefused(String definition, String message) {
        assertThatThrownBy(() -> PsfDefinition.parse(definition))
                .as(definition)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    @Test
    void users_name_values_in_text() {
        PsfSet set = Records.json(
                "field(a)",
                "where(a == 1)",
                "bucket(a, 10)",
                "ranges(a, 0, 10, 20)",
                "prefix(a, 3)");
        assertThat(set.valueOf(0, "PushEvent")).isEqualTo(PropertyValue.of("PushEvent"));
        assertThat(set.valueOf(0, "\"12\"")).isEqualTo(PropertyValue.of("12"));
        assertThat(set.valueOf(0, "12.0")).isEqualTo(PropertyValue.of(12));
        assertThat(set.valueOf(0, "true")).isEqualTo(PropertyValue.of(true));
        assertThat(set.valueOf(0, "12 monkeys")).isEqualTo(PropertyValue.of("12 monkeys"));
        assertThat(set.valueOf(1, "true")).isEqualTo(PropertyValue.of(1));
        assertThat(set.valueOf(2, "37.5")).isEqualTo(PropertyValue.of(3));
        assertThat(set.valueOf(3, "12")).isEqualTo(PropertyValue.of(1));
        assertThat(set.valueOf(4, "github")).isEqualTo(PropertyValue.of("git"));
        assertThatThrownBy(() -> set.valueOf(1, "no")).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> set.valueOf(2, "x")).hasMessageContaining("'x' is not a number");
        assertThatThrownBy(() -> set.valueOf(3, "20")).hasMessageContaining("is in none of");
    }

    @Test
    void without_psfs_nothing_is_parsed() {
        PsfSet none = PsfSet.empty(new ParserSpec.Json());
        assertThat(none.isEmpty()).isTrue();
        assertThat(Records.properties(none, "no json at all")).isEmpty();
    }

    @Test
    void an_unparsable_record_is_refused_with_kind_and_position_and_the_next_one_is_read() {
        PropertyExtractor extractor = Records.json("field(a)").newExtractor();
        Properties properties = new Properties();
        MemorySegment bad = Records.of("{\"a\":x}");
        assertThat(extractor.extract(bad, 0, (int) bad.byteSize(), properties)).isFalse();
        assertThat(extractor.rejection())
                .hasToString("the record has no value where one must be at byte 5");
        assertThat(properties.count()).isZero();
        MemorySegment good = Records.of("{\"a\":1}");
        assertThat(extractor.extract(good, 0, (int) good.byteSize(), properties))
                .isTrue();
        assertThat(properties.count()).isOne();
        assertThatThrownBy(extractor::rejection).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_gate_that_is_shut_spares_the_rest_of_the_record_but_not_other_psfs() {
        PsfSet set = Records.json("where(type == \"A\" && p.x == 1)", "field(id)");
        assertThat(Records.properties(set, "{\"type\":\"B\",\"id\":3,\"p\":!!")).isEqualTo("1=3");
        assertThat(Records.properties(set, "{\"type\":\"B\",\"p\":{\"x\":1},\"id\":3}"))
                .isEqualTo("1=3");
        assertThat(Records.properties(set, "{\"type\":\"A\",\"p\":{\"x\":1},\"id\":3}"))
                .isEqualTo("0=1 1=3");
        assertThat(Records.properties(set, "{\"p\":{\"x\":1},\"type\":\"A\",\"id\":3}"))
                .isEqualTo("0=1 1=3");
        PsfSet shared =
                Records.json("where(t == 1 && a == 1)", "field(a)", "where(t == 2 && a == 1)");
        assertThat(Records.properties(shared, "{\"t\":2,\"a\":1}")).isEqualTo("1=1 2=1");
    }

    @Test
    void no_record_costs_an_object() {
        PsfSet set = Records.json(
                "field(id)",
                "field(name)",
                "field(score)",
                "field(ok)",
                "bucket(score, 10)",
                "ranges(score, 0, 50.5, 100)",
                "prefix(name, 3)",
                "where((name ^= \"n\" || score > 1.5) && ok)");
        MemorySegment record =
                Records.of("{\"id\":123456789,\"name\":\"n\\u00e4me\",\"x\":[1,{\"y\":2}],"
                        + "\"score\":37.25,\"ok\":true,\"rest\":\"" + "r".repeat(500) + "\"}");
        PropertyExtractor extractor = set.newExtractor();
        Properties properties = new Properties();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        // on a busy machine the compiler, which takes the objects of the interpreter away, comes
        // late
        for (int round = 0; round < 2_000 && least >= 5_000; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 5_000; i++) {
                extractor.extract(record, 0, (int) record.byteSize(), properties);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(properties.count()).isEqualTo(8);
        // a few objects of the measurement itself
        assertThat(least).isLessThan(5_000);
    }
}
