package io.turbidite.feeds.command.copy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;

import java.io.OutputStream;
import java.lang.foreign.MemorySegment;

/**
 * A new file that is there whole or not at all: until {@link #finish} it has another name, and
 * whatever happens before takes it away. <em>Confined to one thread.</em>
 *
 * <p>A killed process leaves a file {@value #PARTIAL}, which says what it is.
 */
final class ExportFile extends OutputStream {
    static final String PARTIAL = ".partial";

    private static final int BUFFER_BYTES = 256 << 10;

    private final Disk disk;
    private final String name;
    private final DiskFile file;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final MemorySegment segment = MemorySegment.ofArray(buffer);
    private int buffered;
    private long written;
    private boolean finished;

    private ExportFile(Disk disk, String name, DiskFile file) {
        this.disk = disk;
        this.name = name;
        this.file = file;
    }

    /**
     * Begins a file.
     *
     * @throws InvalidRequestException if there is one of that name, or a part of one
     */
    static ExportFile create(Disk disk, String name) {
        checkNew(disk, name);
        if (disk.exists(name + PARTIAL)) {
            throw new InvalidRequestException(
                    "%s%s in %s is there: another export writes it, or was killed; delete it if it was"
                            .formatted(name, PARTIAL, disk.description()));
        }
        return new ExportFile(disk, name, disk.create(name + PARTIAL));
    }

    private static void checkNew(Disk disk, String name) {
        if (disk.exists(name)) {
            throw new InvalidRequestException(
                    "%s in %s is there already, and nothing is written over: give another name, or delete it"
                            .formatted(name, disk.description()));
        }
    }

    @Override
    public void write(int oneByte) {
        if (buffered == BUFFER_BYTES) {
            drain();
        }
        buffer[buffered++] = (byte) oneByte;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        int from = offset;
        int left = length;
        while (left > 0) {
            if (buffered == BUFFER_BYTES) {
                drain();
            }
            int part = Math.min(left, BUFFER_BYTES - buffered);
            System.arraycopy(bytes, from, buffer, buffered, part);
            buffered += part;
            from += part;
            left -= part;
        }
    }

    private void drain() {
        file.write(written, segment, 0, buffered);
        written += buffered;
        buffered = 0;
    }

    /** Gives the file its name, durably. */
    void finish() {
        drain();
        file.sync();
        checkNew(disk, name);
        disk.rename(name + PARTIAL, name);
        finished = true;
        disk.syncDirectory("");
    }

    /** Takes the file away, unless it is finished. */
    @Override
    public void close() {
        try {
            file.close();
        } finally {
            if (!finished) {
                takeAway();
            }
        }
    }

    private void takeAway() {
        try {
            disk.delete(name + PARTIAL);
        } catch (StorageException e) {
            // its name says what it is, and what kept it from being finished is told
        }
    }
}
