package io.turbidite.feeds.web.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;

/** The headers that every answer has. Static, without state. */
final class AnswerHeaders {
    private AnswerHeaders() {}

    /**
     * Sets them.
     *
     * @param length of the body in bytes; negative: none is told
     * @param isLast whether the connection ends behind the answer
     */
    static void set(HttpResponse response, String type, long length, boolean isLast) {
        HttpHeaders headers = response.headers();
        headers.set(HttpHeaderNames.CONTENT_TYPE, type);
        headers.set("Content-Security-Policy", HttpServer.CONTENT_POLICY);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cross-Origin-Resource-Policy", "same-origin");
        headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
        if (length >= 0) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, length);
        }
        if (isLast) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
    }
}
