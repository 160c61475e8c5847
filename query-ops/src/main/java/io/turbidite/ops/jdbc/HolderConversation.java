package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * A conversation of the process that holds a store with one connection of another. {@link #run}
 * belongs to a thread of its own, {@link #cancel} is thread-safe.
 */
public final class HolderConversation {
    /** What has begun to come is whole by then. */
    private static final long WHOLE_MILLIS_MAX = TimeUnit.SECONDS.toMillis(10);

    private static final int PIECE_BYTES = 64 << 10;

    /** Cancelled before they came; more are forgotten. */
    private static final int EARLY_COUNT_MAX = 64;

    private final HolderService service;
    private final HolderService.Client client;
    private final WireOutput out = new WireOutput(Wire.ANSWER_BYTES_MAX);

    /** Runs that can be cancelled, guarded by itself. */
    private final Map<Integer, Execution> running = new HashMap<>();

    /** Runs that were cancelled before they came, guarded by {@link #running}. */
    private final Set<Integer> early = new TreeSet<>();

    /** The highest number of a run that has come, guarded by {@link #running}. */
    private int lastRun;

    /** Whether the request that is answered keeps other long ones waiting. */
    private boolean holdsLarge;

    HolderConversation(HolderService service, HolderService.Client client) {
        this.service = service;
        this.client = client;
    }

    /**
     * Answers until the client says goodbye or has gone; what it left open is closed then.
     *
     * @throws IOException if the client sends what is no request, or takes no answer; it was told
     *     if it could be
     */
    public void run() throws IOException {
        ServedSession session = null;
        try {
            byte[] first = message(Wire.HELLO_BYTES);
            if (first == null) {
                return;
            }
            session = greeted(new WireInput(first));
            if (session == null) {
                return;
            }
            serve(session);
        } catch (WireInput.MalformedException e) {
            out.begin(Wire.ERROR)
                    .putInt(0)
                    .putError(Errors.of(String.valueOf(e.getMessage()), Errors.PROTOCOL));
            send();
            throw e;
        } finally {
            if (session != null) {
                session.close();
            }
        }
    }

    private @Nullable ServedSession greeted(WireInput hello) throws IOException {
        if (hello.getByte() != Wire.HELLO || hello.getLong() != Wire.MAGIC) {
            throw new WireInput.MalformedException("it greets in no way that is known");
        }
        int version = hello.getShort();
        if (version != Wire.VERSION) {
            out.begin(Wire.ERROR)
                    .putInt(0)
                    .putError(Errors.of(
                            "the process that holds the store speaks version %d of JDBC's messages, not %d: use the same version of turbidite in both"
                                    .formatted(Wire.VERSION, version),
                            Errors.NOT_OPENED));
            send();
            return null;
        }
        boolean isForReading = hello.getTruth();
        long planningMillis = hello.getLong();
        hello.checkEnd();
        if (planningMillis < 1 || planningMillis > Integer.MAX_VALUE) {
            throw new WireInput.MalformedException("planning of %d ms".formatted(planningMillis));
        }
        OwnSession own = service.session(planningMillis);
        ServedSession session = new ServedSession(own, isForReading, this::begun, this::ended);
        out.begin(Wire.OK)
                .putInt(session.schema())
                .putShort(Wire.VERSION)
                .putTruth(own.isReadOnly());
        send();
        return session;
    }

    private void serve(ServedSession session) throws IOException {
        while (true) {
            byte[] request = message(Wire.REQUEST_BYTES_MAX);
            if (request == null) {
                return;
            }
            boolean isLast;
            try {
                isLast = session.answer(new WireInput(request), out);
            } finally {
                if (holdsLarge) {
                    holdsLarge = false;
                    service.releaseLarge();
                }
            }
            send();
            if (isLast) {
                return;
            }
        }
    }

    /** Sends what there is to be said; nothing, if nothing is. */
    private void send() throws IOException {
        if (out.size() > 0) {
            byte[] message = out.message();
            client.write(message, 0, out.size());
        }
        out.cut(0);
    }

    /** The next message without its length; null: the client has gone. */
    private byte @Nullable [] message(int bytesMax) throws IOException {
        byte[] head = new byte[Wire.LENGTH_BYTES];
        int first = client.read(head, 0, 1, 0);
        if (first < 0 || !filled(head, first)) {
            return null;
        }
        int length = new WireInput(head).getInt();
        if (length < 1 || length > bytesMax) {
            throw new WireInput.MalformedException(
                    "it has %d bytes, and may have 1 to %d".formatted(length, bytesMax));
        }
        holdsLarge = service.awaitLarge(length);
        byte[] message = null;
        try {
            message = body(length);
            return message;
        } finally {
            if (message == null && holdsLarge) {
                holdsLarge = false;
                service.releaseLarge();
            }
        }
    }

    /** It grows as bytes come, so that a length alone takes nothing. */
    private byte @Nullable [] body(int length) throws IOException {
        byte[] body = new byte[Math.min(length, PIECE_BYTES)];
        int done = 0;
        while (true) {
            if (!filled(body, done)) {
                return null;
            }
            if (body.length == length) {
                return body;
            }
            done = body.length;
            body = Arrays.copyOf(body, (int) Math.min(length, 2L * done));
        }
    }

    private boolean filled(byte[] into, int from) throws IOException {
        for (int done = from; done < into.length; ) {
            int more = client.read(into, done, into.length - done, WHOLE_MILLIS_MAX);
            if (more < 0) {
                return false;
            }
            done += more;
        }
        return true;
    }

    /** Ends a run at once, also one that has not come yet. */
    public void cancel(int run) {
        Execution execution;
        synchronized (running) {
            execution = running.get(run);
            if (execution == null && run > lastRun && early.size() < EARLY_COUNT_MAX) {
                early.add(run);
            }
        }
        if (execution != null) {
            execution.cancel();
        }
    }

    /** A run that begins. */
    private Execution begun(int run, int seconds) {
        Execution execution = new Execution(service.clock(), seconds, client::isGone);
        boolean isEarly;
        synchronized (running) {
            running.put(run, execution);
            lastRun = Math.max(lastRun, run);
            isEarly = early.remove(run);
            early.removeIf(other -> other <= lastRun);
        }
        if (isEarly) {
            execution.cancel();
        }
        return execution;
    }

    private void ended(int run) {
        synchronized (running) {
            running.remove(run);
        }
    }
}
