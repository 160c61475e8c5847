package io.turbidite.hashlog.parse;

/** Which parser reads the records of a log. <em>Immutable.</em> */
public sealed interface ParserSpec {
    /** One JSON object a record. */
    record Json() implements ParserSpec {
        @Override
        public String text() {
            return "json";
        }
    }

    /** The text form: what the durable registry keeps. */
    String text();
}
