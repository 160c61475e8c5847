package io.turbidite.feeds.web.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpRequest;
import io.turbidite.feeds.command.common.Json;

import org.jspecify.annotations.Nullable;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A request and its answer. One thread handles it; the loop tells it when the client has gone.
 *
 * <p><em>Thread-safe</em>, but for the body and a streamed answer, which one thread uses.
 */
public final class Exchange {
    static final String JSON = "application/json";

    private final HttpConnection connection;
    private final HttpRequest head;
    private final Target target;
    private final Map<String, String> names = new LinkedHashMap<>();
    private final RequestBody body;
    private final HttpOptions options;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Runnable> onGone = new ArrayList<>();
    private Doorkeeper.@Nullable Caller caller;
    private String template = "";
    private long begunNanos;
    private boolean gone;
    private boolean answered;

    Exchange(
            HttpConnection connection,
            HttpRequest head,
            Target target,
            RequestBody body,
            HttpOptions options) {
        this.connection = connection;
        this.head = head;
        this.target = target;
        this.body = body;
        this.options = options;
    }

    HttpRequest head() {
        return head;
    }

    Map<String, String> names() {
        return names;
    }

    List<String> segments() {
        return target.segments();
    }

    void calledBy(Doorkeeper.Caller who) {
        caller = who;
    }

    void begunAt(long nanos) {
        begunNanos = nanos;
    }

    long begunNanos() {
        return begunNanos;
    }

    void matched(String newTemplate) {
        template = newTemplate;
    }

    /** Of the route, for metrics; empty if there is none. */
    String template() {
        return template;
    }

    /** The method, in capitals. */
    public String method() {
        return head.method().name();
    }

    /** The path, decoded. */
    public String path() {
        return "/" + String.join("/", target.segments());
    }

    /** What stands in the path in the place of {@code {name}}. */
    public String name(String name) {
        String found = names.get(name);
        if (found == null) {
            throw new IllegalArgumentException("the route has no {%s}".formatted(name));
        }
        return found;
    }

    /** A parameter behind the question mark; null if it is not there. */
    public @Nullable String parameter(String name) {
        return target.parameters().get(name);
    }

    Set<String> parameterNames() {
        return target.parameters().keySet();
    }

    /** A header; null if it is not there. */
    public @Nullable String header(String name) {
        return head.headers().get(name);
    }

    /** A header that is a list: all of the name, with commas between; null if there is none. */
    public @Nullable String headers(String name) {
        List<String> all = head.headers().getAll(name);
        return all.isEmpty() ? null : String.join(", ", all);
    }

    /**
     * Who calls.
     *
     * @throws IllegalStateException before that is known
     */
    public Doorkeeper.Caller caller() {
        Doorkeeper.Caller who = caller;
        if (who == null) {
            throw new IllegalStateException("the request was not let in yet");
        }
        return who;
    }

    /**
     * Refuses callers that may not.
     *
     * @param kind {@code "store"} or {@code "feed"}
     * @throws Problem with 401 or 403
     */
    public void require(Right right, String kind, String name) {
        if (!caller().may(right, kind, name)) {
            throw denied(caller(), right, kind.isEmpty() ? "this server" : kind + " " + name);
        }
    }

    static Problem denied(Doorkeeper.Caller caller, Right right, String what) {
        String word = switch (right) {
            case NONE -> "reach";
            case READ -> "read";
            case WRITE -> "write to";
            case MANAGE -> "manage";
        };
        return caller.isAnonymous()
                ? Problem.of(401, "without a token nobody may %s %s".formatted(word, what))
                        .advise(
                                "send one as header, Authorization: Bearer …; ./turbidite token makes one")
                : Problem.of(403, "%s may not %s %s".formatted(caller.name(), word, what));
    }

    /** The body, as it comes; reading waits for the client. */
    public InputStream body() {
        return body;
    }

    RequestBody requestBody() {
        return body;
    }

    /** Calls {@code stop} when the client goes away before its answer has ended; at once if so. */
    public void onGone(Runnable stop) {
        boolean now;
        lock.lock();
        try {
            now = gone;
            onGone.add(stop);
        } finally {
            lock.unlock();
        }
        if (now) {
            stop.run();
        }
    }

    /** What the server grants its clients. */
    public HttpOptions options() {
        return options;
    }

    /** What a client is told whose answer would be longer than the server sends. */
    public Problem tooLong() {
        return Problem.of(
                        400,
                        "the answer is longer than %d bytes".formatted(options.answerBytesMax()))
                .advise("ask for less: limit; or raise --answer-bytes of the server");
    }

    /** Whether the client has gone: nobody reads an answer. */
    public boolean isGone() {
        lock.lock();
        try {
            return gone;
        } finally {
            lock.unlock();
        }
    }

    /** The loop: the client has gone. */
    void leave() {
        List<Runnable> told;
        lock.lock();
        try {
            if (gone) {
                return;
            }
            gone = true;
            told = List.copyOf(onGone);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        body.fail(Problem.of(400, "the client has gone"));
        told.forEach(Runnable::run);
    }

    /** The loop: the client may take more now. */
    void writable() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until the client takes more.
     *
     * @return false if it has gone, or took nothing for too long
     */
    boolean awaitWritable() {
        lock.lock();
        try {
            long leftNanos = TimeUnit.MILLISECONDS.toNanos(options.writeMillisMax());
            while (!gone && !connection.isWritable()) {
                if (leftNanos <= 0) {
                    return false;
                }
                leftNanos = changed.awaitNanos(leftNanos);
            }
            return !gone;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Whether an answer has begun. */
    public boolean isAnswered() {
        lock.lock();
        try {
            return answered;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the one turn to answer. */
    private void begin() {
        lock.lock();
        try {
            if (answered) {
                throw new IllegalStateException("the request has its answer");
            }
            answered = true;
        } finally {
            lock.unlock();
        }
    }

    /** Answers with an object. */
    public void answer(int code, Map<String, ?> object) {
        answer(code, object, Map.of());
    }

    /** Answers with an object, and headers beside those that all answers have. */
    public void answer(int code, Map<String, ?> object, Map<String, String> headers) {
        answer(code, JSON, (Json.text(object) + "\n").getBytes(StandardCharsets.UTF_8), headers);
    }

    /**
     * Answers with bytes, and headers beside those that all answers have.
     *
     * @throws Problem with 400 if they are more than the server sends
     */
    public void answer(int code, String type, byte[] bytes, Map<String, String> headers) {
        if (bytes.length > options.answerBytesMax()) {
            throw tooLong();
        }
        begin();
        connection.answer(this, code, type, Unpooled.wrappedBuffer(bytes), headers);
    }

    /** Answers with what is wrong. */
    public void answer(Problem problem) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (problem.retrySeconds() > 0) {
            headers.put("Retry-After", Integer.toString(problem.retrySeconds()));
        }
        if (problem.code() == 401) {
            headers.put("WWW-Authenticate", "Bearer");
        }
        begin();
        connection.answer(
                this,
                problem.code(),
                "application/problem+json",
                Unpooled.wrappedBuffer(textOf(problem, path())),
                headers);
    }

    static byte[] textOf(Problem problem, @Nullable String place) {
        Json.Line line = Json.line()
                .put("type", "about:blank")
                .put("title", HttpConnection.reason(problem.code()))
                .put("status", problem.code())
                .put("detail", problem.detail());
        if (place != null) {
            line.put("instance", place);
        }
        if (problem.advice() != null) {
            line.put("advice", problem.advice());
        }
        return (Json.text(line.toMap()) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Answers at the client's pace. Close the stream when all is written; until then the client
     * knows that there is more, and if the stream is never closed, that its answer is cut.
     */
    public OutputStream stream(int code, String type) {
        begin();
        connection.beginStream(this, code, type);
        return new AnswerStream(this);
    }

    /**
     * Keeps the answer open for what may happen, when the thread of the request has long gone on.
     *
     * @throws Problem with 429 if too many have such a one
     */
    public EventPush push(String type) {
        connection.reservePush();
        begin();
        connection.beginStream(this, 200, type);
        return new EventPush(this);
    }

    void write(ByteBuf piece) {
        connection.write(this, piece);
    }

    void end() {
        connection.endStream(this);
    }

    /** Ends an answer that can't be brought to its end; the client sees that it is cut. */
    void abort() {
        connection.abort();
    }

    boolean isWritable() {
        return connection.isWritable();
    }
}
