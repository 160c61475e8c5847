/**
 * The shared parts of all subcommands: the console, options, where stores are, how failures and
 * answers are written, and exit codes. Nothing in here knows a subcommand.
 */
@NullMarked
package io.turbidite.feeds.command.common;

import org.jspecify.annotations.NullMarked;
