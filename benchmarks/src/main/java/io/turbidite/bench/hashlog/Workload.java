package io.turbidite.bench.hashlog;

import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfSet;

import java.util.List;
import java.util.Map;

/** The PSFs of FISH19 Table 1 for each kind of data, and which of them the generator counts. */
enum Workload {
    GITHUB(
            "github",
            List.of(
                    "field(id)",
                    "field(actor.id)",
                    "field(repo.id)",
                    "field(type)",
                    "where(type == \"IssuesEvent\" && payload.action == \"opened\")",
                    "where(type == \"PullRequestEvent\" && payload.pull_request.head.repo.language == \"C++\")"),
            Map.of("issue_opened", 4, "pr_cpp", 5)),
    YELP(
            "yelp",
            List.of(
                    "field(review_id)",
                    "field(user_id)",
                    "field(business_id)",
                    "field(stars)",
                    "where(stars > 3 && useful > 5)",
                    "where(useful > 10)"),
            Map.of("stars>3&&useful>5", 4, "useful>10", 5)),
    TWITTER(
            "twitter",
            List.of(
                    "field(id)",
                    "field(user.id)",
                    "field(in_reply_to_status_id)",
                    "field(in_reply_to_user_id)",
                    "field(lang)",
                    "where(user.lang == \"ja\" && user.followers_count > 3000)",
                    "where(in_reply_to_screen_name == \"realDonaldTrump\" && possibly_sensitive == true)"),
            Map.of("ja_popular", 5, "reply_sensitive", 6)),
    TWITTER_SIMPLE(
            "twitter",
            List.of("field(id)", "field(in_reply_to_user_id)", "where(lang == \"en\")"),
            Map.of("lang==en", 2));

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    final List<String> definitions;
    /** The generator's name of a count, and the PSF that has it. */
    @SuppressWarnings("ImmutableEnumChecker") // made by Map.of
    final Map<String, Integer> counted;

    /** Of the data, as the generator calls it. */
    final String kind;

    Workload(String kind, List<String> definitions, Map<String, Integer> counted) {
        this.kind = kind;
        this.definitions = definitions;
        this.counted = counted;
    }

    /** The set, with ids from 0. */
    PsfSet psfs() {
        PsfSet set = PsfSet.empty(new ParserSpec.Json());
        for (int id = 0; id < definitions.size(); id++) {
            set = set.with(id, PsfDefinition.parse(definitions.get(id)));
        }
        return set;
    }
}
