package io.turbidite.feeds.web.http;

import org.jspecify.annotations.Nullable;

/**
 * Why a request is not answered as its client hoped: what becomes an answer of the type {@code
 * application/problem+json}. <em>Immutable.</em>
 */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;
    private final @Nullable String advice;
    private final int retrySeconds;

    private Problem(int code, String detail, @Nullable String advice, int retrySeconds) {
        super(detail, null, false, false); // an answer needs no stack trace
        this.code = code;
        this.advice = advice;
        this.retrySeconds = retrySeconds;
    }

    /**
     * A problem that the client can do something about, or nobody.
     *
     * @param code of HTTP
     * @param detail what is wrong, and where
     */
    public static Problem of(int code, String detail) {
        return new Problem(code, detail, null, 0);
    }

    /** The same, with what to do. */
    public Problem advise(@Nullable String newAdvice) {
        return new Problem(code, detail(), newAdvice, retrySeconds);
    }

    /** The same, with when it is worth another try. */
    public Problem retry(int seconds) {
        return new Problem(code, detail(), advice, seconds);
    }

    /** Of HTTP. */
    public int code() {
        return code;
    }

    /** What is wrong, and where. */
    public String detail() {
        return String.valueOf(getMessage());
    }

    /** What to do; null if that is plain. */
    public @Nullable String advice() {
        return advice;
    }

    /** After how many seconds another try is worth it; 0 if it never is. */
    public int retrySeconds() {
        return retrySeconds;
    }
}
