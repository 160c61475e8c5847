package io.turbidite.feeds.store;

import io.turbidite.core.InvalidRequestException;

/**
 * Another feed of the group has read a partition on: nothing was written, and this feed may go on
 * behind it.
 */
public final class OvertakenException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    private OvertakenException(String message) {
        super(message);
    }

    /**
     * What ends a run behind which another has read a partition on.
     *
     * @param isShared whether feeds of a group share how far they are: then it is worth another try
     */
    static InvalidRequestException of(boolean isShared, String message) {
        return isShared ? new OvertakenException(message) : new InvalidRequestException(message);
    }
}
