package io.turbidite.ops.jdbc;

/**
 * What a connection and the process that holds its store say to each other. Integers are
 * big-endian; a text is its length in bytes, i32, and UTF-8, or, where it has half of a surrogate
 * pair, -1 - its length in characters, and UTF-16; -2^31: null.
 *
 * <pre>
 * message: length i32 of what follows it, kind u8, payload
 * </pre>
 *
 * <pre>
 * kind      payload                                                     answer behind its head
 * HELLO     magic i64 "TURBJDBC", version u16, read-only u8, planning   version u16, read-only u8
 *           millis i64; first, once
 * PLAN      run i32, seconds i32, text                                  plan
 * RUN       run i32, seconds i32, in transaction u8, text, values       columns
 * FETCH     run i32, rows at most i32                                   rows
 * CHANGE    run i32, seconds i32, text, values                          changed i64
 * CLOSE     run i32                                                     none at all
 * END       of the transaction                                          nothing
 * DESCRIBE  subject,    dataset, column, unique u8                      columns, count i32, rows
 * PING                                                                  nothing
 * BYE       last                                                        nothing
 * </pre>
 *
 * <p>An answer's kind is OK or ERROR; its head is the number of the datasets there are, i32, which
 * changes with them. One request is answered before the next; CLOSE may come at any time. A plan is
 * whether it gives rows, the types of its parameters and its columns. Rows are their count, i32,
 * their values, and what follows: 0 more, 1 none, 2 an error. Runs have rising numbers.
 */
final class Wire {
    static final long MAGIC = 0x5455_5242_4A44_4243L; // "TURBJDBC"
    static final int VERSION = 1;

    static final int HELLO = 1;
    static final int PLAN = 2;
    static final int RUN = 3;
    static final int FETCH = 4;
    static final int CHANGE = 5;
    static final int CLOSE = 6;
    static final int END = 7;
    static final int DESCRIBE = 8;
    static final int PING = 9;
    static final int BYE = 10;

    static final int OK = 1;
    static final int ERROR = 2;

    static final int MORE = 0;
    static final int NO_MORE = 1;
    static final int FAILED = 2;

    static final int LENGTH_BYTES = Integer.BYTES;

    /** The kind and the numbers of the first message. */
    static final int HELLO_BYTES = 1 + Long.BYTES + Short.BYTES + 1 + Long.BYTES;

    /** A record has at most 16 MiB, and a statement may have several texts of that length. */
    static final int REQUEST_BYTES_MAX = 32 << 20;

    static final int ANSWER_BYTES_MAX = 64 << 20;

    /** Rows are sent once they have so many bytes. */
    static final int ROWS_BYTES = 64 << 10;

    static final int DEPTH_MAX = 100;

    private Wire() {}
}
