package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.component.Block.Kind;
import io.turbidite.lsm.component.BlockWriter.Section;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Reads a component file's header, footer and table of contents, and checks what they say of one
 * another. Stateless.
 */
final class ComponentFrame {
    private ComponentFrame() {}

    /**
     * The table of contents.
     *
     * @param bytes of the file
     * @param expected whose file it must be
     */
    static ComponentMeta read(DiskFile file, long bytes, ComponentHeader expected) {
        String name = file.name();
        FileHeader header = DiskComponent.FORMAT
                .check(name, FileHeader.readFrom(file))
                .checkOwner(name, expected.storeId(), expected.fileId());
        if (header.flags() != 0) {
            throw new CorruptionException(
                    name, FileHeader.FILE_OFFSET, "flags", "0", Integer.toString(header.flags()));
        }
        FileFooter footer = FileFooter.readFrom(file).checkOwner(name, bytes, header);
        if (footer.payloadOffset() + footer.payloadBytes() != bytes - FileFooter.BYTES) {
            throw new CorruptionException(
                    name,
                    bytes - FileFooter.BYTES,
                    "table of contents",
                    "up to the footer",
                    "%d bytes at %d".formatted(footer.payloadBytes(), footer.payloadOffset()));
        }
        if (footer.payloadBytes() > ComponentWriter.META_BYTES_MAX) {
            throw new CorruptionException(
                    name,
                    footer.payloadOffset(),
                    "table of contents",
                    ComponentWriter.META_BYTES_MAX + " bytes at most",
                    footer.payloadBytes() + " bytes");
        }
        MemorySegment payload = MemorySegment.ofArray(new byte[(int) footer.payloadBytes()]);
        int payloadBytes = (int) footer.payloadBytes();
        new BlockReader(file, expected.fileId())
                .readRaw(footer.payloadOffset(), payload, payloadBytes, payloadBytes);
        footer.checkPayload(name, payload, 0);
        return ComponentMeta.decode(
                new MetaReader(name, footer.payloadOffset(), payload), expected, header.version());
    }

    /**
     * Checks that interior, Bloom filter, boxes and sample lie one behind the other, up to the
     * table of contents.
     */
    static void checkSections(DiskFile file, long bytes, ComponentMeta meta) {
        ComponentMeta.Sections sections = meta.sections();
        long end = sections.recordInterior().fileOffset();
        if (end < FileHeader.BYTES) {
            throw damagedSection(file, Kind.RECORD_INTERIOR, end);
        }
        end = checkSection(file, bytes, Kind.RECORD_INTERIOR, sections.recordInterior(), end, true);
        end = checkSection(
                file,
                bytes,
                Kind.KEY_INTERIOR,
                sections.keyInterior(),
                end,
                meta.options().keyTree());
        end = checkSection(
                file, bytes, Kind.BLOOM, sections.bloom(), end, meta.options().bloom());
        boolean hasBoxes = meta.options().boxes() != null;
        end = checkSection(file, bytes, Kind.BOXES, sections.boxes(), end, hasBoxes);
        boolean hasSample = sections.sample().bytes() > 0;
        end = checkSection(file, bytes, Kind.SAMPLE, sections.sample(), end, hasSample);
        long metaOffset = FileFooter.readFrom(file).payloadOffset();
        if (end != metaOffset) {
            throw damagedSection(
                    file, hasSample ? Kind.SAMPLE : hasBoxes ? Kind.BOXES : Kind.BLOOM, end);
        }
    }

    private static long checkSection(
            DiskFile file, long bytes, Kind kind, Section section, long at, boolean present) {
        if (!present) {
            if (section.bytes() != 0 || section.fileOffset() != 0) {
                throw damagedSection(file, kind, section.fileOffset());
            }
            return at;
        }
        if (section.fileOffset() != at
                || section.bytes() < Block.HEADER_BYTES
                || section.bytes() > bytes - at) {
            throw damagedSection(file, kind, section.fileOffset());
        }
        return at + section.bytes();
    }

    private static CorruptionException damagedSection(DiskFile file, Kind kind, long at) {
        return new CorruptionException(
                file.name(), at, kind.description, "where the section before it ends", "not");
    }

    /** The pages of both trees together fill the file from its header to the first interior. */
    static void checkLeaves(
            DiskFile file, ComponentMeta meta, Fences recordFences, @Nullable Fences keyFences) {
        int recordPages = recordFences.pageCount();
        int keyPages = keyFences == null ? 0 : keyFences.pageCount();
        int recordPage = 0;
        int keyPage = 0;
        long end = FileHeader.BYTES;
        while (recordPage < recordPages || keyPage < keyPages) {
            if (recordPage < recordPages && recordFences.fileOffset(recordPage) == end) {
                end += recordFences.blockBytes(recordPage++);
            } else if (keyFences != null
                    && keyPage < keyPages
                    && keyFences.fileOffset(keyPage) == end) {
                end += keyFences.blockBytes(keyPage++);
            } else {
                throw new CorruptionException(
                        file.name(),
                        end,
                        "leaf page",
                        "recorded in an interior",
                        "record page %d and key page %d lie elsewhere"
                                .formatted(recordPage, keyPage));
            }
        }
        if (end != meta.sections().recordInterior().fileOffset()) {
            throw damagedSection(file, Kind.RECORD_INTERIOR, end);
        }
    }
}
