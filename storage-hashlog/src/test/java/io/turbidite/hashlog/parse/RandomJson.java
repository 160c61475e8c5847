package io.turbidite.hashlog.parse;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/** Random objects, with names from a small set so that paths hit, in every spelling JSON allows. */
final class RandomJson {
    private static final String[] NAMES = {
        "a", "b", "id", "type", "repository_id", "é", "x\"y", "long name 64"
    };
    private static final String[] SPACES = {
        "", "", "", "", " ", "\n", "\t", "  \r\n ", "                 "
    };

    private final SplittableRandom random;
    private final StringBuilder text = new StringBuilder();

    RandomJson(SplittableRandom random) {
        this.random = random;
    }

    byte[] next() {
        text.setLength(0);
        space();
        object(4);
        space();
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void space() {
        text.append(SPACES[random.nextInt(SPACES.length)]);
    }

    private void object(int depth) {
        text.append('{');
        int members = random.nextInt(7);
        for (int i = 0; i < members; i++) {
            text.append(i == 0 ? "" : ",");
            space();
            string(NAMES[random.nextInt(NAMES.length)]);
            space();
            text.append(':');
            space();
            value(depth - 1);
            space();
        }
        text.append('}');
    }

    private void array(int depth) {
        text.append('[');
        int elements = random.nextInt(5);
        for (int i = 0; i < elements; i++) {
            text.append(i == 0 ? "" : ",");
            space();
            value(depth - 1);
            space();
        }
        text.append(']');
    }

    private void value(int depth) {
        switch (random.nextInt(depth > 0 ? 8 : 5)) {
            case 0 -> text.append(new String[] {"true", "false", "null"}[random.nextInt(3)]);
            case 1 -> text.append(random.nextInt(-1000, 1000));
            case 2 -> number();
            case 3, 4 -> string(randomString());
            case 5, 6 -> object(depth);
            default -> array(depth);
        }
    }

    private void number() {
        text.append(random.nextBoolean() ? "-" : "")
                .append(random.nextLong() >>> random.nextInt(1, 64));
        if (random.nextBoolean()) {
            text.append('.').append(random.nextInt(1000));
        }
        if (random.nextInt(3) == 0) {
            text.append(random.nextBoolean() ? "e" : "E-").append(random.nextInt(30));
        }
    }

    private String randomString() {
        StringBuilder value = new StringBuilder();
        int chars = random.nextInt(10) == 0 ? random.nextInt(200) : random.nextInt(12);
        for (int i = 0; i < chars; i++) {
            switch (random.nextInt(14)) {
                case 0 -> value.append('"');
                case 1 -> value.append('\\');
                case 2 -> value.append("{}[],:".charAt(random.nextInt(6)));
                case 3 -> value.append('é');
                case 4 -> value.appendCodePoint(0x1F600 + random.nextInt(20));
                case 5 -> value.append((char) random.nextInt(32));
                default -> value.append((char) ('a' + random.nextInt(26)));
            }
        }
        return value.toString();
    }

    private void string(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < ' ' || (!Character.isSurrogate(c) && random.nextInt(20) == 0)) {
                text.append("\\u%04x".formatted((int) c));
            } else if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
