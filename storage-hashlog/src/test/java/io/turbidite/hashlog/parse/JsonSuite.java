package io.turbidite.hashlog.parse;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Texts that stand in for a JSON value, made by rule from RFC 8259's grammar: those that must be
 * taken, those that must not, and those that readers disagree about. Each has a name that says what
 * it is about.
 */
final class JsonSuite {
    /**
     * A text and what it is about.
     *
     * @param latin1 a character for each of its bytes: some of them are no text at all
     */
    record Case(String name, String latin1) {
        static Case of(String name, String text) {
            return of(name, text.getBytes(StandardCharsets.UTF_8));
        }

        static Case of(String name, byte[] bytes) {
            return new Case(name, new String(bytes, StandardCharsets.ISO_8859_1));
        }

        byte[] bytes() {
            return latin1.getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    private static final String SIMPLE_ESCAPES = "\"\\/bfnrt";
    private static final List<String> SPACES = List.of(" ", "\t", "\n", "\r");

    /** What some readers take for white space, or skip. */
    private static final List<String> NO_SPACES = List.of(
            "\u000B", "\f", "\u00A0", "\u2028", "\u3000", "\uFEFF", "/**/", "//\n", "#\n", "\0",
            "\\", ";");

    private JsonSuite() {}

    // ---- y: must be taken
    // ------------------------------------------------------------------------

    static List<Case> valid() {
        List<Case> cases = new ArrayList<>();
        numbers(cases);
        strings(cases);
        for (String literal : List.of("true", "false", "null")) {
            cases.add(Case.of("y_literal", literal));
        }
        for (String text : VALID_STRUCTURES) {
            cases.add(Case.of("y_structure", text));
            for (String space : SPACES) {
                cases.add(Case.of("y_structure_spaced", spaced(text, space)));
            }
        }
        for (int depth = 1; depth <= 256; depth *= 2) {
            cases.add(Case.of("y_nested_arrays", "[".repeat(depth) + "]".repeat(depth)));
            cases.add(
                    Case.of("y_nested_objects", "{\"a\":".repeat(depth) + "1" + "}".repeat(depth)));
        }
        return cases;
    }

    private static final List<String> VALID_STRUCTURES = List.of(
            "[]",
            "{}",
            "[1]",
            "[1,2]",
            "[1,2,3,4,5]",
            "[[],[]]",
            "[{},{}]",
            "[\"\",\"a\"]",
            "[null,true]",
            "[-0,0.0]",
            "{\"a\":1}",
            "{\"a\":1,\"b\":2}",
            "{\"a\":{\"b\":1}}",
            "{\"a\":[]}",
            "{\"a\":{}}",
            "{\"b\":1,\"a\":2}",
            "{\"\":1}",
            "{\"\\u0061\":1}",
            "{\"\\\"\":1,\"a\":2}",
            "{\"a\\\\\":1,\"a\":2}",
            "{\"A\":1,\"aa\":2,\"a\":3}",
            "{\"a b\":1,\"a\":2}",
            "{\"[\":1,\"{\":2,\"]\":3,\"}\":4,\",\":5,\":\":6,\"a\":7}",
            "[\"]\",\"}\"]",
            "[\",\",\":\"]",
            "{\"a\":\"}\"}",
            "[[[1],[2]],[3]]");

    private static void numbers(List<Case> cases) {
        for (String sign : List.of("", "-")) {
            for (String whole : List.of(
                    "0", "7", "10", "4294967296", "9223372036854775807", "98765432109876543210")) {
                for (String fraction : List.of("", ".0", ".5", ".000", ".123456789012345678901")) {
                    for (String exponent : List.of("", "e0", "E+1", "e-9", "E308", "e007")) {
                        cases.add(Case.of("y_number", sign + whole + fraction + exponent));
                    }
                }
            }
        }
        cases.add(Case.of("y_number_smallest", "-9223372036854775808"));
        cases.add(Case.of("y_number_below_the_smallest", "-9223372036854775809"));
        cases.add(Case.of("y_number_above_the_largest", "9223372036854775808"));
    }

    private static void strings(List<Case> cases) {
        for (int c = 0x20; c < 0x80; c++) {
            if (c != '"' && c != '\\') {
                cases.add(Case.of("y_string_ascii", quoted(Character.toString(c))));
            }
        }
        for (int i = 0; i < SIMPLE_ESCAPES.length(); i++) {
            cases.add(Case.of("y_string_escape", quoted("\\" + SIMPLE_ESCAPES.charAt(i))));
            cases.add(Case.of(
                    "y_string_escape_inside", quoted("a\\" + SIMPLE_ESCAPES.charAt(i) + "b")));
        }
        for (int point : POINTS) {
            cases.add(Case.of("y_string_raw", quoted(Character.toString(point))));
            StringBuilder escaped = new StringBuilder();
            for (char unit : Character.toChars(point)) {
                escaped.append("\\u%04x".formatted((int) unit));
            }
            cases.add(Case.of("y_string_unicode_escape", quoted(escaped.toString())));
            cases.add(Case.of(
                    "y_string_unicode_escape_upper",
                    quoted(escaped.toString()
                            .toUpperCase(java.util.Locale.ROOT)
                            .replace("\\U", "\\u"))));
        }
        for (int control = 0; control < 0x20; control++) {
            cases.add(Case.of("y_string_control_escaped", quoted("\\u%04X".formatted(control))));
        }
        for (int length :
                new int[] {0, 1, 7, 8, 9, 15, 16, 55, 63, 64, 65, 127, 128, 255, 256, 257, 1_024}) {
            cases.add(Case.of("y_string_of_length", quoted("x".repeat(length))));
            cases.add(Case.of("y_string_of_backslashes", quoted("\\\\".repeat(length))));
            cases.add(Case.of("y_string_of_quotes", quoted("\\\"".repeat(length))));
            cases.add(Case.of("y_string_ends_in_escape", quoted("x".repeat(length) + "\\\\")));
        }
    }

    /** Where UTF-8 and UTF-16 change their lengths, and characters that are none. */
    private static final int[] POINTS = {
        0x7F, 0x80, 0xA0, 0xE9, 0x7FF, 0x800, 0x2028, 0x2029, 0x6771, 0xD7FF, 0xE000, 0xFEFF,
        0xFDD0, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x1F600, 0x1FFFE, 0x10FFFF
    };

    // ---- n: must not be taken
    // --------------------------------------------------------------------

    static List<Case> invalid() {
        List<Case> cases = new ArrayList<>();
        for (String number : BAD_NUMBERS) {
            cases.add(Case.of("n_number", number));
            cases.add(Case.of("n_number_in_array", "[" + number + "]"));
            cases.add(Case.of("n_number_in_object", "{\"a\":" + number + "}"));
        }
        badStrings(cases);
        for (String literal : List.of("true", "false", "null")) {
            for (int length = 1; length < literal.length(); length++) {
                cases.add(Case.of("n_literal_cut", literal.substring(0, length)));
            }
            for (int at = 0; at < literal.length(); at++) {
                String upper = literal.substring(0, at)
                        + Character.toUpperCase(literal.charAt(at))
                        + literal.substring(at + 1);
                cases.add(Case.of("n_literal_upper", upper));
            }
            cases.add(Case.of("n_literal_longer", literal + "x"));
            cases.add(Case.of("n_literal_twice", literal + " " + literal));
        }
        for (String text : BAD_STRUCTURES) {
            cases.add(Case.of("n_structure", text));
        }
        for (String space : NO_SPACES) {
            for (String text : List.of("1", "[1]", "{\"a\":1}", "\"a\"", "true")) {
                cases.add(Case.of("n_space_before", space + text));
                cases.add(Case.of("n_space_behind", text + space));
            }
            cases.add(Case.of("n_space_in_array", "[" + space + "1]"));
            cases.add(Case.of("n_space_before_a_comma", "[1" + space + ",2]"));
            cases.add(Case.of("n_space_behind_a_comma", "[1," + space + "2]"));
            cases.add(Case.of("n_space_before_a_name", "{" + space + "\"a\":1}"));
            cases.add(Case.of("n_space_before_a_colon", "{\"a\"" + space + ":1}"));
            cases.add(Case.of("n_space_behind_a_colon", "{\"a\":" + space + "1}"));
            cases.add(Case.of("n_space_before_the_end", "{\"a\":1" + space + "}"));
        }
        return cases;
    }

    private static final List<String> BAD_NUMBERS = List.of(
            "00",
            "01",
            "-01",
            "007",
            "-",
            "+1",
            "+0",
            "--1",
            "-+1",
            "- 1",
            ".5",
            "-.5",
            "1.",
            "-1.",
            "1.e1",
            "0.",
            "1..2",
            "1.2.3",
            "1e",
            "1E",
            "1e+",
            "1e-",
            "1e+-1",
            "1ee1",
            "1e1e1",
            "1e1.5",
            "1e 5",
            "0e",
            "0x1",
            "0X1F",
            "0b1",
            "0o7",
            "1a",
            "1f",
            "1L",
            "1_000",
            "1,000.5x",
            "1 2",
            "1+1",
            "1-1",
            "1-",
            "1+",
            "Infinity",
            "-Infinity",
            "NaN",
            "-NaN",
            "inf",
            "nan",
            "\uFF11",
            "1\uFF12",
            "\u0661",
            "1\u00B2",
            "1'",
            "#1",
            "$1",
            "0-1",
            "1/2");

    private static final List<String> BAD_STRUCTURES = List.of(
            "",
            "[",
            "{",
            "]",
            "}",
            "[]]",
            "{}}",
            "[}",
            "{]",
            "[1}",
            "{\"a\":1]",
            "[1,]",
            "[,1]",
            "[,]",
            "[1,,2]",
            "[1 2]",
            "[1:2]",
            "[1;2]",
            "[\"a\" \"b\"]",
            "[1,2",
            "[1",
            "[\"a\",",
            "[[1]",
            "[1]]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{:1}",
            "{\"a\" 1}",
            "{\"a\",1}",
            "{\"a\"::1}",
            "{\"a\":1,}",
            "{,\"a\":1}",
            "{\"a\":1,,\"b\":2}",
            "{\"a\":1 \"b\":2}",
            "{\"a\":1",
            "{\"a\":",
            "{\"a\"",
            "{\"a",
            "{a:1}",
            "{'a':1}",
            "{1:1}",
            "{null:1}",
            "{true:1}",
            "{[]:1}",
            "{{}:1}",
            "{\"a\":1}}",
            "{\"a\":{\"b\":1}",
            "{\"a\":[1}",
            "{\"a\":{]}",
            "1 1",
            "[] []",
            "{} {}",
            "\"a\" \"b\"",
            "1,",
            ",1",
            ":",
            ",",
            ";",
            "*",
            "<a>",
            "undefined",
            "[undefined]",
            "nil",
            "None",
            "True",
            "FALSE",
            "new Date()",
            "[1,2,3",
            "@",
            "`a`",
            "'a'",
            "[']",
            "a",
            "\u00e9",
            "[a]",
            "[\u00e9]",
            "{\"a\":b}",
            "[-]",
            "[--1]",
            "[tru]",
            "[nul]",
            "[fals]",
            "{\"\\x\":1}",
            "{\"\\u12\":1}",
            "[1]x",
            "{\"a\":1}x",
            "\"a\"x",
            "\"a\"1",
            "1\"a\"",
            "true1",
            "1true",
            "[true false]");

    private static void badStrings(List<Case> cases) {
        for (int control = 0; control < 0x20; control++) {
            cases.add(Case.of("n_string_control", quoted(Character.toString(control))));
            cases.add(Case.of(
                    "n_string_control_inside",
                    quoted("some text, then " + Character.toString(control) + " and more")));
        }
        for (int c = 0x20; c < 0x7F; c++) {
            if (SIMPLE_ESCAPES.indexOf(c) < 0 && c != 'u') {
                cases.add(Case.of("n_string_escape", quoted("\\" + Character.toString(c))));
            }
        }
        for (String digits : List.of(
                "",
                "1",
                "12",
                "123",
                "12g4",
                "g123",
                "123g",
                " 123",
                "+123",
                "-123",
                "0x12",
                "\uFF11234")) {
            cases.add(Case.of("n_string_unicode_escape", quoted("\\u" + digits)));
        }
        cases.add(Case.of("n_string_escape_of_a_letter_of_two_bytes", quoted("\\\u00e9")));
        cases.add(Case.of("n_string_upper_u", quoted("\\U0041")));
        for (String open :
                List.of("\"", "\"a", "\"\\", "\"\\\"", "\"\\u", "\"\\u12", "a\"", "\"a\"\"")) {
            cases.add(Case.of("n_string_open", open));
        }
        for (int[] bytes : NOT_UTF8) {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            text.write('"');
            for (int b : bytes) {
                text.write(b);
            }
            text.write('"');
            cases.add(Case.of("n_string_not_utf8", text.toByteArray()));
        }
    }

    /** Alone, cut short, longer than need be, surrogates, past the last, never used. */
    private static final int[][] NOT_UTF8 = {
        {0x80},
        {0xBF},
        {0x80, 0x80},
        {0xC3},
        {0xC3, 'a'},
        {0xE2, 0x82},
        {0xE2, 0x82, 'a'},
        {0xE2},
        {0xE2, 'a', 0x82},
        {0xF0, 0x9F, 0x98},
        {0xF0, 0x9F},
        {0xF0},
        {0xF0, 0x9F, 0x98, 'a'},
        {0xC0, 0x80},
        {0xC0, 0xAF},
        {0xC1, 0xBF},
        {0xE0, 0x80, 0x80},
        {0xE0, 0x9F, 0xBF},
        {0xF0, 0x80, 0x80, 0x80},
        {0xF0, 0x8F, 0xBF, 0xBF},
        {0xED, 0xA0, 0x80},
        {0xED, 0xBF, 0xBF},
        {0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80},
        {0xF4, 0x90, 0x80, 0x80},
        {0xF5, 0x80, 0x80, 0x80},
        {0xF8, 0x88, 0x80, 0x80, 0x80},
        {0xFC, 0x84, 0x80, 0x80, 0x80, 0x80},
        {0xFE},
        {0xFF},
        {'a', 0xFF, 'b'},
        {0xC3, 0xA9, 0xA9}
    };

    // ---- i: readers disagree
    // ---------------------------------------------------------------------

    /** What readers disagree about, and whether ours takes it. */
    record Disputed(Case text, boolean taken, String reason) {}

    static List<Disputed> disputed() {
        String halves =
                "a surrogate by itself has no UTF-8 form, so no property could be equal to it";
        String exact = "numbers are exact decimals of any size";
        String first = "the first of equal names counts";
        return List.of(
                disputed("\"\\ud800\"", false, halves),
                disputed("\"\\udbff\"", false, halves),
                disputed("\"\\udc00\"", false, halves),
                disputed("\"\\udfff\"", false, halves),
                disputed("\"\\ud800\\ud800\"", false, halves),
                disputed("\"\\ud800x\"", false, halves),
                disputed("\"\\ud800\\n\"", false, halves),
                disputed("\"\\ud800\\u0041\"", false, halves),
                disputed("\"\\udc00\\ud800\"", false, halves),
                disputed("\"\\ud83d\\ude00\\ude00\"", false, halves),
                disputed("{\"\\ud800\":1}", false, halves),
                disputed("1e400", true, exact),
                disputed("-1e400", true, exact),
                disputed("1e-400", true, exact),
                disputed("1e99999999999", true, exact),
                disputed("0e99999999999", true, exact),
                disputed("1" + "0".repeat(2_000), true, exact),
                disputed("0." + "0".repeat(2_000) + "1", true, exact),
                disputed("-0", true, exact),
                disputed("{\"a\":1,\"a\":2}", true, first),
                disputed("{\"a\":1,\"\\u0061\":2}", true, first),
                disputed("{\"a\":null,\"a\":1}", true, first),
                disputed("{\"b\":1,\"b\":2}", true, first),
                disputed(
                        "[".repeat(5_000) + "]".repeat(5_000),
                        true,
                        "nesting is counted, not entered"),
                disputed(
                        "{\"b\":".repeat(5_000) + "1" + "}".repeat(5_000),
                        true,
                        "nesting is counted, not entered"),
                disputed("\"\\u0000\"", true, "an escaped zero is a character"),
                disputed("\"\uFFFF\"", true, "what is no character is a code point still"),
                disputed("\"\uFEFF\"", true, "a byte order mark inside a string is text"));
    }

    private static Disputed disputed(String text, boolean taken, String reason) {
        return new Disputed(Case.of("i_" + (taken ? "taken" : "refused"), text), taken, reason);
    }

    // ---- helpers
    // ---------------------------------------------------------------------------------

    private static String quoted(String inside) {
        return '"' + inside + '"';
    }

    /** The text with {@code space} at every place where white space may stand. */
    private static String spaced(String text, String space) {
        StringBuilder out = new StringBuilder();
        boolean inside = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean escaped = inside && c == '\\';
            boolean outer = !inside && "[]{},:".indexOf(c) >= 0;
            out.append(outer ? space : "").append(c).append(outer ? space : "");
            if (escaped) {
                out.append(text.charAt(++i));
            } else if (c == '"') {
                inside = !inside;
            }
        }
        return out.toString();
    }
}
