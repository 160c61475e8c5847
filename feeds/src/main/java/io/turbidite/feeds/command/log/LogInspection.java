package io.turbidite.feeds.command.log;

import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.registry.Interval;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.jspecify.annotations.Nullable;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** A log's description as JSON and as text. Static, without state. */
final class LogInspection {
    private LogInspection() {}

    static Map<String, @Nullable Object> toMap(String directory, HashLog log) {
        HybridLog addresses = log.log();
        LogShape shape = addresses.shape();
        return Json.line()
                .put("log", directory)
                .put("parser", log.parser().text())
                .put("begin", addresses.begin())
                .put("head", addresses.head())
                .put("durable", addresses.durable())
                .put("tail", addresses.tail())
                .put("marksLost", addresses.marksLost())
                .put("pageBytes", shape.pageBytes())
                .put("memoryBytes", shape.ringBytes())
                .put("segmentBytes", (long) shape.pageBytes() * shape.segmentPageCount())
                .put("firstSegment", shape.segmentOf(shape.pageOf(addresses.begin())))
                .put("lastSegment", shape.segmentOf(shape.pageOf(addresses.tail())))
                .put(
                        "table",
                        Json.line()
                                .put("buckets", log.bucketCount())
                                .put("overflowBuckets", log.overflowBucketCount())
                                .toMap())
                .put("psfs", log.psfs().stream().map(LogInspection::toMap).toList())
                .toMap();
    }

    static Map<String, @Nullable Object> toMap(RegisteredPsf psf) {
        return Json.line()
                .put("id", psf.id())
                .put("name", psf.name())
                .put("definition", psf.definition().text())
                .put("active", psf.active())
                .put("chains", psf.chainCount())
                .put(
                        "intervals",
                        psf.intervals().stream()
                                .map(i -> Arrays.asList(i.from(), i.isOpen() ? null : i.to()))
                                .toList())
                .put(
                        "runs",
                        psf.runs().stream()
                                .map(run -> Arrays.asList(run.from(), run.to()))
                                .toList())
                .toMap();
    }

    static void print(String directory, HashLog log, PrintStream out) {
        HybridLog addresses = log.log();
        LogShape shape = addresses.shape();
        out.println(
                "log %s: %s from begin to tail (records with headers and key pointers), read as %s"
                        .formatted(
                                directory,
                                Words.bytes(addresses.tail() - addresses.begin()),
                                log.parser().text()));
        out.println("  addresses: begin %s, in memory from %s, durable to %s, tail %s"
                .formatted(
                        Words.number(addresses.begin()),
                        Words.number(addresses.head()),
                        Words.number(addresses.durable()),
                        Words.number(addresses.tail())));
        out.println("  segments %d to %d of %s, pages of %s, %s of pages in memory"
                .formatted(
                        shape.segmentOf(shape.pageOf(addresses.begin())),
                        shape.segmentOf(shape.pageOf(addresses.tail())),
                        Words.bytes((long) shape.pageBytes() * shape.segmentPageCount()),
                        Words.bytes(shape.pageBytes()),
                        Words.bytes(shape.ringBytes())));
        out.println("  table: %s, %s"
                .formatted(
                        Words.count(log.bucketCount(), "bucket"),
                        Words.count(log.overflowBucketCount(), "overflow bucket")));
        if (addresses.marksLost() > 0) {
            out.println(
                    "  damaged: one of two marks in TAIL can't be read, maybe the newest; the next opening for writing makes two of the end that is found");
        }
        log.psfs().forEach(psf -> out.println("  psf " + text(psf)));
    }

    static String text(RegisteredPsf psf) {
        return "%d %s = %s, %s%s, indexed %s%s"
                .formatted(
                        psf.id(),
                        psf.name(),
                        psf.definition().text(),
                        psf.active() ? "registered" : "removed",
                        psf.chainCount() == 1
                                ? ""
                                : ", %d chains a value".formatted(psf.chainCount()),
                        psf.intervals().isEmpty()
                                ? "nowhere"
                                : psf.intervals().stream()
                                        .map(LogInspection::text)
                                        .collect(Collectors.joining(", ")),
                        psf.runs().isEmpty()
                                ? ""
                                : psf.runs().stream()
                                        .map(run -> "%s to %s"
                                                .formatted(
                                                        Words.number(run.from()),
                                                        Words.number(run.to())))
                                        .collect(Collectors.joining(", ", "; by runs ", "")));
    }

    private static String text(Interval interval) {
        return interval.isOpen()
                ? "from %s on".formatted(Words.number(interval.from()))
                : "from %s to %s"
                        .formatted(Words.number(interval.from()), Words.number(interval.to()));
    }
}
