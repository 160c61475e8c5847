package io.turbidite.ops.cluster;

import org.apache.hyracks.api.messages.IMessage;

/** What the controller says to a node, as the engine takes it. <em>Immutable.</em> */
final class MemberMessage implements IMessage {
    private static final long serialVersionUID = 1L;

    private final byte[] bytes;

    /** @param bytes nobody else's */
    MemberMessage(byte[] bytes) {
        this.bytes = bytes;
    }

    byte[] bytes() {
        return bytes;
    }
}
