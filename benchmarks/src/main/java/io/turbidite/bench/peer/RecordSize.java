package io.turbidite.bench.peer;

/** How large the records of a run are. Only the length of the text tells them apart. */
public enum RecordSize {
    /** Tweets as those of LUO19 §6.1: 418 to 517 bytes of text. */
    TWEETS("tweets", 418, 100),
    /** As measurements and events are: 40 bytes of text, 72 bytes in all. */
    SMALL("records", 40, 1);

    private final String plural;
    private final int textBytesMin;
    private final int textLengths;

    RecordSize(String plural, int textBytesMin, int textLengths) {
        this.plural = plural;
        this.textBytesMin = textBytesMin;
        this.textLengths = textLengths;
    }

    /** What several of them are called. */
    public String plural() {
        return plural;
    }

    /** Bytes of the shortest text. */
    int textBytesMin() {
        return textBytesMin;
    }

    /** How many lengths of the text there are, each a byte more than the last; all as likely. */
    int textLengths() {
        return textLengths;
    }

    /** Bytes of the average record: key, attributes, time, text. */
    public long meanBytes() {
        return 8L + 4 * Tweet.ATTRIBUTE_COUNT + 8 + textBytesMin + textLengths / 2;
    }

    /** The size in words. */
    public String words() {
        return textLengths == 1
                ? "%d bytes".formatted(meanBytes())
                : "about %d bytes".formatted(meanBytes());
    }
}
