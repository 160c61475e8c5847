package io.turbidite.bench.peer;

import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.storage.am.lsm.common.api.IIoOperationFailedCallback;
import org.apache.hyracks.storage.am.lsm.common.api.ILSMIOOperation;
import org.apache.hyracks.storage.am.lsm.common.api.ILSMIOOperationScheduler;
import org.apache.hyracks.storage.am.lsm.common.impls.AsynchronousScheduler;
import org.jspecify.annotations.Nullable;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;

/** The released scheduler, and a way to wait until all that it was given is done. */
final class SettlingScheduler implements ILSMIOOperationScheduler, IIoOperationFailedCallback {
    private final AsynchronousScheduler released;
    private final Queue<ILSMIOOperation> begun = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Throwable failure;

    /** Four flushes and one merge at a time, on such threads. */
    SettlingScheduler(ThreadFactory threads) {
        released = new AsynchronousScheduler(threads, this, 4, 1);
    }

    @Override
    public void scheduleOperation(ILSMIOOperation operation) throws HyracksDataException {
        begun.add(operation);
        released.scheduleOperation(operation);
    }

    @Override
    public void completeOperation(ILSMIOOperation operation) throws HyracksDataException {
        released.completeOperation(operation);
    }

    @Override
    public void operationFailed(ILSMIOOperation operation, Throwable cause) {
        failure = cause;
    }

    @Override
    public void schedulerFailed(ILSMIOOperationScheduler scheduler, Throwable cause) {
        failure = cause;
    }

    /** A flush may schedule a merge while it ends, so the queue is read until it is empty. */
    void await() {
        try {
            for (ILSMIOOperation next = begun.poll(); next != null; next = begun.poll()) {
                next.sync();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
        if (failure != null) {
            throw new IllegalStateException(failure);
        }
    }
}
