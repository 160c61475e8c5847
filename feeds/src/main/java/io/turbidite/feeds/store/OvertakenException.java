package io.turbidite.feeds.store;

import io.turbidite.core.InvalidRequestException;

/**
 * Another feed of the group has read a partition on: nothing was written, and this feed may go on
 * behind it.
 */
public final class OvertakenException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    OvertakenException(String message) {
        super(message);
    }
}
