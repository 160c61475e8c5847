package io.turbidite.hashlog;

import io.turbidite.hashlog.parse.Rejection;
import io.turbidite.hashlog.psf.FunctionFailure;

/** A refused record, and the reason; ingestion goes on with the next one. <em>Immutable.</em> */
public sealed interface RejectedRecord {
    /** The record's number among those that its session got, from 1. */
    long serial();

    /** The offset of the record in the caller's segment. */
    long offset();

    /** Bytes of the record. */
    int byteCount();

    /** The reason, for people. */
    String reason();

    /** The parser refused it; it is in no chain and not in the log. */
    record Malformed(long serial, long offset, int byteCount, Rejection why)
            implements RejectedRecord {
        @Override
        public String reason() {
            return why.toString();
        }
    }

    /** A user's function threw, so its chains are unknown. */
    record FunctionFailed(long serial, long offset, int byteCount, FunctionFailure why)
            implements RejectedRecord {
        @Override
        public String reason() {
            return why.toString();
        }
    }

    /** The record with its key pointers needs more space than a page has. */
    record TooLarge(long serial, long offset, int byteCount, int recordBytesMax)
            implements RejectedRecord {
        @Override
        public String reason() {
            return "the record has %d bytes; with its key pointers at most %d fit a page"
                    .formatted(byteCount, recordBytesMax);
        }
    }

    /** Gets each rejection, on the ingesting thread, which holds nothing during the call. */
    @FunctionalInterface
    interface Listener {
        /** Takes a record that was not ingested. */
        void rejected(RejectedRecord record);
    }
}
