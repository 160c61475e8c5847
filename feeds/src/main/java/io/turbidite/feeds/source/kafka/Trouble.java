package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;

import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What the client fails of, in the words of this project. */
final class Trouble {
    private static final String UNRESOLVABLE = "No resolvable bootstrap";

    private Trouble() {}

    /** What may pass: brokers that are away, rights that are missing for now. */
    static StorageIoException of(String bootstrap, String why, @Nullable Throwable cause) {
        return new StorageIoException(
                StorageIoException.Kind.IO, "reading", "Kafka at " + bootstrap, why, cause);
    }

    /** A wrong setting stays wrong; all else may pass. */
    static StorageException of(String bootstrap, Throwable failure) {
        if (failure instanceof InterruptException) {
            return StorageIoException.ofEndedWait("Kafka at " + bootstrap, "interrupted");
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            if (isOfLogin(cause, message)) {
                // neither its words nor itself: it quotes parts of the secret
                return new InvalidRequestException(
                        "sasl.jaas.config is no login as Kafka's client reads one: MODULE required username=\"…\" password=\"…\";");
            }
            if (cause instanceof ConfigException && !message.startsWith(UNRESOLVABLE)) {
                return new InvalidRequestException("Kafka's client says: " + message, failure);
            }
        }
        StringBuilder why =
                new StringBuilder(failure instanceof TimeoutException ? "no broker answers: " : "");
        why.append(words(failure));
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (!root.equals(failure)) {
            why.append(": ").append(words(root));
        }
        return of(bootstrap, why.toString(), failure);
    }

    private static boolean isOfLogin(Throwable cause, String message) {
        return cause instanceof IllegalArgumentException
                && message.contains("JAAS config")
                && !message.contains("JAAS configuration"); // that none is given
    }

    private static String words(Throwable failure) {
        return failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : failure.getMessage();
    }
}
