package io.turbidite.feeds.serve;

import io.turbidite.ops.jdbc.HolderService;

import java.io.IOException;
import java.io.OutputStream;

/** A client of a long conversation, as the conversation sees it. */
final class SessionClient implements HolderService.Client {
    private final SessionInput input;
    private final OutputStream output;
    private final Departure departure;

    SessionClient(SessionInput input, ClientOutput output, Departure departure) {
        this.input = input;
        this.output = output.stream(FrameLayout.OUT);
        this.departure = departure;
    }

    @Override
    public int read(byte[] into, int offset, int length, long waitMillis) throws IOException {
        return input.read(into, offset, length, waitMillis);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        output.write(bytes, offset, length);
    }

    @Override
    public boolean isGone() {
        return departure.isGone();
    }
}
