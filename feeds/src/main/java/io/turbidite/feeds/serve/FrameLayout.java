package io.turbidite.feeds.serve;

/**
 * What goes over the socket: frames, in both directions. Integers are big-endian, texts UTF-8.
 *
 * <pre>
 * offset bytes field
 *      0     4 length  of what follows it: 1 to {@value #LENGTH_MAX}
 *      4     1 kind
 *      5     n payload
 * </pre>
 *
 * <pre>
 * kind      from   payload
 * HELLO     both   magic i64 "TURBSOCK", version u16; first in each direction
 * RUN       client flags u8 (1: a terminal watches), then texts, each a u16 length and its bytes: the
 *                  working directory, then the command line; once
 * SESSION   client nothing: instead of a command a long conversation begins, of JDBC; once
 * IN        client bytes of the conversation, to which OUT answers
 * CANCEL    client number of a run in the conversation, i32: it is to end
 * OUT, ERR  server bytes of the command's standard output, standard error
 * EXIT      server exit code i32; last
 * REFUSED   server a text: why nothing was run, or why it was ended early; last
 * </pre>
 *
 * The client ends a command early by closing. A frame that is not as it should be ends the
 * connection.
 */
final class FrameLayout {
    static final int VERSION = 1;
    static final long MAGIC = 0x5455_5242_534F_434BL; // "TURBSOCK"

    static final int LENGTH_OFFSET = 0;
    static final int LENGTH_BYTES = 4;
    static final int KIND_OFFSET = LENGTH_OFFSET + LENGTH_BYTES;
    static final int PAYLOAD_OFFSET = KIND_OFFSET + 1;

    /** No command line is longer, and output comes in pieces. */
    static final int LENGTH_MAX = 64 << 10;

    static final int HELLO_PAYLOAD_BYTES = Long.BYTES + Short.BYTES;
    static final int FLAG_TERMINAL = 1;

    static final int HELLO = 1;
    static final int RUN = 2;
    static final int OUT = 3;
    static final int ERR = 4;
    static final int EXIT = 5;
    static final int REFUSED = 6;
    static final int SESSION = 7;
    static final int IN = 8;
    static final int CANCEL = 9;

    private FrameLayout() {}
}
