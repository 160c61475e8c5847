package io.turbidite.hashlog;

import io.turbidite.core.StorageException;
import io.turbidite.hashlog.chain.ChainHeads;
import io.turbidite.hashlog.chain.KeyPointer;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyExtractor;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfSet;
import io.turbidite.hashlog.registry.RegisteredPsf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Compares the index of an open log with its records, oldest first. <em>Used once, by one
 * thread.</em>
 *
 * <p>Chains that share an entry of the table are one list, so the next older key pointer of a chain
 * may lie some links further. Of chains it remembers the newest key pointer, of at most {@value
 * #CHAIN_COUNT_MAX}: where there are more, it follows a share of them, chosen by hash.
 */
final class ChainCheck {
    static final int CHAIN_COUNT_MAX = 1 << 18;

    private final HashLog log;
    private final HybridLog addresses;
    private final Consumer<String> errors;
    private final BooleanSupplier stopped;
    private final ChainHeads heads;
    private final Map<Integer, RegisteredPsf> psfs = new HashMap<>();
    private final PropertyExtractor extractor;
    private final Properties properties = new Properties();
    private final List<RegisteredPsf> evaluated = new ArrayList<>();

    /** Of each chain that is followed, its newest key pointer so far. */
    private final Map<Long, Long> newest = new HashMap<>();

    /** Chains whose hash has a bit of these are not followed. */
    private long unfollowed;

    private long keyPointerCount;

    ChainCheck(HashLog log, Consumer<String> errors, BooleanSupplier stopped) {
        this.log = log;
        this.addresses = log.log();
        this.errors = errors;
        this.stopped = stopped;
        this.heads = log.plan().heads();
        PsfSet set = PsfSet.empty(log.registry().parser(), log.functions());
        for (RegisteredPsf psf : log.psfs()) {
            psfs.put(psf.id(), psf);
            boolean isThere = !(psf.definition() instanceof PsfDefinition.Function function)
                    || log.functions().byName().containsKey(function.name());
            if (isThere) {
                set = set.with(psf.id(), psf.definition());
                evaluated.add(psf);
            }
        }
        this.extractor = set.newReader();
    }

    /** False if it was stopped. */
    boolean run() {
        LogShape shape = addresses.shape();
        long end = addresses.safeTail();
        try (LogReader reader = log.reader("check");
                LogReader walker = log.reader("check of chains")) {
            for (long at = addresses.begin(); at < end; ) {
                if (stopped.getAsBoolean()) {
                    return false;
                }
                long pageEnd = Math.min(end, shape.startOf(shape.pageOf(at) + 1));
                page(reader, walker, at, pageEnd);
                at = pageEnd;
            }
            newest.forEach((chain, keyPointer) ->
                    requireReached(walker, log.headOf(chain), keyPointer, "the hash table"));
        }
        return true;
    }

    long keyPointerCount() {
        return keyPointerCount;
    }

    /** Chains that were followed. */
    long chainCount() {
        return newest.size();
    }

    private void page(LogReader reader, LogReader walker, long from, long to) {
        reader.protect();
        try {
            LogScan scan = new LogScan(reader);
            scan.start(from, to);
            while (scan.next()) {
                if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD) {
                    record(reader, walker, scan);
                }
            }
        } catch (StorageException e) {
            errors.accept(String.valueOf(e.getMessage()));
        } finally {
            reader.unprotect();
        }
    }

    private void record(LogReader reader, LogReader walker, LogScan scan) {
        long header = scan.header();
        long address = scan.address();
        Map<Integer, Long> there = new HashMap<>();
        for (int i = 0; i < RecordHeader.keyPointerCount(header); i++) {
            long at = RecordHeader.BYTES + (long) i * KeyPointer.LINK_BYTES;
            long link = KeyPointer.loadLink(scan.segment(), scan.offset() + at);
            long hash = KeyPointer.hash(i, link, header, reader, address);
            long value = KeyPointer.loadValue(scan.segment(), scan.offset(), header, link);
            there.put(KeyPointer.psfId(value), hash);
            keyPointerCount++;
            if (isIndexed(KeyPointer.psfId(value), address)) {
                long chain = heads.hashAt(value, hash, address + at);
                follow(walker, chain, address + at, KeyPointer.previous(link));
            }
        }
        evaluate(scan, there);
    }

    private boolean isIndexed(int psfId, long address) {
        RegisteredPsf psf = psfs.get(psfId);
        return psf != null && psf.intervals().stream().anyMatch(i -> i.contains(address));
    }

    /** Compares the key pointers of a record with what its PSFs say now. */
    private void evaluate(LogScan scan, Map<Integer, Long> there) {
        long address = scan.address();
        long payload = scan.offset() + RecordHeader.payloadOffset(scan.header());
        Map<Integer, Long> wanted = new HashMap<>();
        if (extractor.extract(
                scan.segment(), payload, RecordHeader.payloadBytes(scan.header()), properties)) {
            for (int i = 0; i < properties.count(); i++) {
                wanted.put(properties.psfId(i), properties.hash(i));
            }
        }
        for (RegisteredPsf psf : evaluated) {
            Long found = there.get(psf.id());
            Long said = wanted.get(psf.id());
            boolean isMissing = found == null && isIndexed(psf.id(), address);
            if (found == null ? isMissing && said != null : !found.equals(said)) {
                errors.accept(
                        found == null
                                ? "the record at address %d has a value of PSF %s and no key pointer for it"
                                        .formatted(address, psf.name())
                                : "the record at address %d has a key pointer for PSF %s that is not of its value"
                                        .formatted(address, psf.name()));
            }
        }
    }

    private void follow(LogReader walker, long chain, long keyPointer, long previous) {
        if (previous >= keyPointer) {
            errors.accept("the key pointer at address %d leads to %d, which is not older"
                    .formatted(keyPointer, previous));
            return;
        }
        if ((chain & unfollowed) != 0) {
            return;
        }
        Long older = newest.put(chain, keyPointer);
        if (older != null) {
            requireReached(walker, previous, older, "the key pointer at address " + keyPointer);
        } else if (newest.size() > CHAIN_COUNT_MAX) {
            unfollowed = unfollowed << 1 | 1;
            newest.keySet().removeIf(hash -> (hash & unfollowed) != 0);
        }
    }

    /** Follows links from {@code at} down to {@code wanted}. */
    private void requireReached(LogReader walker, long at, long wanted, String from) {
        long now = at;
        walker.protect();
        try {
            while (now > wanted) {
                walker.seek(now, KeyPointer.LINK_BYTES);
                long next =
                        KeyPointer.previous(KeyPointer.loadLink(walker.segment(), walker.offset()));
                if (next >= now) {
                    errors.accept("the key pointer at address %d leads to %d, which is not older"
                            .formatted(now, next));
                    return;
                }
                now = next;
            }
            if (now != wanted) {
                errors.accept(
                        "the key pointer at address %d is not found from %s, which its chain goes on from"
                                .formatted(wanted, from));
            }
        } catch (StorageException e) {
            errors.accept(String.valueOf(e.getMessage()));
        } finally {
            walker.unprotect();
        }
    }
}
