package io.turbidite.core.record;

/** Text of others inside our messages. */
final class Text {
    private static final int CHARS_MAX = 80;

    private Text() {}

    /** In quotes, cut to 80 characters, control characters escaped: a message stays one line. */
    static String quoted(CharSequence text) {
        StringBuilder quoted = new StringBuilder("'");
        for (int i = 0; i < Math.min(text.length(), CHARS_MAX); i++) {
            char c = text.charAt(i);
            if (Character.isISOControl(c)
                    || Character.isSurrogate(c)
                    || c == '\u2028'
                    || c == '\u2029') {
                quoted.append("\\u%04x".formatted((int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append(text.length() > CHARS_MAX ? "…'" : "'").toString();
    }
}
