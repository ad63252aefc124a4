"""Controls of the shop, each with an edit that takes it away and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Control:
    """`code` stands once in `file` of app/; with `without` in its place the control is gone. `tests` lie in tests/."""

    name: str
    file: str
    code: str
    without: str
    tests: str


CONTROLS = (
    Control(
        "records are looked up within their site",
        "domain/shared/records.py",
        "where(model.site_id == site_id, model.id == record_id)",
        "where(model.id == record_id)",
        "architecture/test_role_matrix.py",
    ),
    Control(
        "a save names the revision that it was made on",
        "domain/taxonomy/saves.py",
        "if taxonomy.revision != (revision or 0):",
        "if False:",
        "faults/test_parallel_saves.py",
    ),
    Control(
        "files of the index are synced",
        "domain/shared/durable_files.py",
        "        os.fsync(descriptor)\n",
        "        pass\n",
        "faults/test_power_cut.py",
    ),
    Control(
        "readers pin their generation",
        "adapters/whoosh/generation.py",
        "lock = _try_lock(path, fcntl.LOCK_SH)",
        "lock = HeldLock(os.open(path, os.O_RDONLY))",
        "faults/test_swaps.py",
    ),
    Control(
        "a late builder is fenced off",
        "domain/work/leases.py",
        "if row is None or row.state != State.RUNNING or row.fence != claim.fence:",
        "if row is None:",
        "faults/test_builder_dies.py",
    ),
    Control(
        "documents in a cluster carry the token of their writer",
        "adapters/opensearch/changes.py",
        ', "version": version, "version_type": "external_gte"}',
        "}",
        "adapters/test_opensearch_generations.py",
    ),
    Control(
        "a writer to a cluster looks whether it was overtaken",
        "adapters/opensearch/engine.py",
        "self._fence.check(site_id, index)",
        "pass",
        "adapters/test_opensearch_generations.py",
    ),
    Control(
        "a builder publishes only while its alias is there",
        "adapters/opensearch/generations.py",
        'alias": building(generation.name), "must_exist": True}',
        'alias": building(generation.name), "must_exist": False}',
        "adapters/test_opensearch_generations.py",
    ),
    Control(
        "a smart reader serves the tills of its location",
        "domain/pos/smart_readers.py",
        "if reader.location_id != location_id:",
        "if False:",
        "blueprints/v1/pos/test_readers.py",
    ),
    Control(
        "only who began a payment stops its smart reader",
        "domain/pos/smart_readers.py",
        "transaction_id = _own_payment_on(reader, cashier).id",
        'transaction_id = ""',
        "blueprints/v1/pos/test_readers.py",
    ),
    Control(
        "a smart reader is given a payment anew, not answered as before",
        "domain/pos/smart_readers.py",
        'key = f"pos-process-{target.transaction_id}-{uuid.uuid4()}"',
        'key = f"pos-process-{target.transaction_id}"',
        "blueprints/v1/pos/test_readers.py",
    ),
    Control(
        "an idempotency key stands for one payment",
        "domain/pos/payments/creation.py",
        "keyed = KeyedRequest(cashier.user_id, cashier.location_id, OPERATION, request.key, content)",
        "keyed = None",
        "faults/test_ledger.py",
    ),
    Control(
        "an idempotency key stands for one payment in cash",
        "domain/pos/payments/cash.py",
        "keyed = KeyedRequest(cashier.user_id, cashier.location_id, OPERATION, request.key, content)",
        "keyed = None",
        "faults/test_cash.py",
    ),
    Control(
        "what a payment under way may take is not taken a second time",
        "domain/orders/payment.py",
        "if amount > due - order.reserved_amount:",
        "if False:",
        "domain/pos/payments/test_at_once.py",
    ),
    Control(
        "forms carry a token",
        "factory.py",
        '"WTF_CSRF_CHECK_DEFAULT": True',
        '"WTF_CSRF_CHECK_DEFAULT": False',
        "architecture/test_forgeries.py",
    ),
    Control(
        "requests from other sites are refused",
        "web/guards.py",
        "    if foreign:\n",
        "    if False:\n",
        "architecture/test_forgeries.py",
    ),
    Control(
        "a webhook is signed",
        "adapters/webhook.py",
        "if not any(hmac",
        "if False and not any(hmac",
        "adapters/test_webhook.py",
    ),
    Control(
        "a webhook was signed just now",
        "adapters/webhook.py",
        "if abs(now.timestamp() - int(seconds)) >",
        "if now.timestamp() - int(seconds) >",
        "adapters/test_webhook.py",
    ),
    Control(
        "the server prints only where it may",
        "adapters/receipt_printer.py",
        " if self._reach.allows(str(found[1][0]))]",
        "]",
        "contracts/test_receipt_printers.py",
    ),
    Control(
        "the server does not print to itself",
        "adapters/receipt_printer.py",
        "if self._is_server_itself(printer):",
        "if False:",
        "contracts/test_receipt_printers.py",
    ),
    Control(
        "a caller has a rate limit",
        "domain/shared/rate_limit.py",
        "if window.count < rate.most:",
        "if True:",
        "domain/shared/test_rate_limit.py",
    ),
    Control(
        "a body has a largest size",
        "factory.py",
        '"MAX_CONTENT_LENGTH": 256 * 1024',
        '"MAX_CONTENT_LENGTH": None',
        "blueprints/v1/test_auth.py",
    ),
    Control(
        "signing in returns to a page of the admin",
        "blueprints/admin/sign_in.py",
        " or not PLAIN_ADDRESS.fullmatch(wanted)",
        "",
        "blueprints/admin/test_return_to.py",
    ),
    Control(
        "a session is of one host",
        "domain/sites/sign_in_sessions.py",
        ", SignInSession.host == host)",
        ")",
        "blueprints/admin/test_sign_in.py",
    ),
    Control(
        "a session ends with the password and the account",
        "domain/sites/sign_in_sessions.py",
        " and user.enabled and session.session_version == user.session_version",
        "",
        "blueprints/admin/test_sign_in.py blueprints/admin/test_users.py",
    ),
    Control(
        "a session that is bound to a passkey is refreshed by its user",
        "domain/sites/session_unlock.py",
        "if session.passkey_id is None or proof.session_id == session.id:",
        "if True:",
        "blueprints/v1/test_passkeys.py",
    ),
    Control(
        "a passkey answers after its user was verified",
        "domain/sites/passkey_ceremonies.py",
        "known.sign_count,\n            require_user_verification=True,",
        "known.sign_count,\n            require_user_verification=False,",
        "blueprints/v1/test_passkeys.py",
    ),
    Control(
        "the challenge of an unlock is for one refresh token",
        "web/tokens.py",
        "if read and read[0] == bound_to else None",
        "if read else None",
        "blueprints/v1/test_passkeys.py",
    ),
    Control(
        "wrong passwords are slowed down",
        "domain/sites/throttle.py",
        "if failures < free:",
        "if True:",
        "domain/sites/test_throttle.py",
    ),
    Control(
        "every change of a product is to be indexed",
        "domain/search/index/outbox.py",
        "entries | session.info",
        "session.info",
        "domain/search/index/test_outbox.py",
    ),
    Control(
        "texts with markup are cleaned",
        "domain/catalogue/markup.py",
        "cleaned: str = _cleaner.clean(text)",
        "cleaned: str = text",
        "domain/catalogue/test_markup.py",
    ),
    Control(
        "cells of tables are no formulas",
        "domain/shared/csv_tables.py",
        'f"\'{part}" if _would_run(part) else part for part in text',
        "part for part in text",
        "domain/shared/test_csv_tables.py",
    ),
    Control(
        "a payment stays within the limit",
        "domain/pos/rules.py",
        "if amount > limit.amount:",
        "if False:",
        "domain/pos/payments/test_rules.py",
    ),
    Control(
        "a batch of searches counts once",
        "domain/search_statistics/counting/daily_counts.py",
        "    return db.session.scalar(noted) is not None\n",
        "    db.session.scalar(noted)\n    return True\n",
        "jobs/test_counting_in_streams.py",
    ),
    Control(
        "a batch that is sent again is appended once",
        "adapters/redis/event_stream.py",
        "if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return 1 end\n",
        "",
        "adapters/test_redis_streams.py",
    ),
    Control(
        "a worker whose lease is over counts no more",
        "adapters/redis/event_stream.py",
        "if not self._renew(self._keys, [holder, LEASE]):",
        "if False:",
        "adapters/test_redis_streams.py",
    ),
    Control(
        "rate limits are on no disk",
        "adapters/redis/memory.py",
        "    if writes:\n",
        "    if False:\n",
        "adapters/test_redis_memory.py",
    ),
    Control(
        "nobody who reads Redis can try addresses",
        "adapters/redis/memory.py",
        "blake2b(keyed.digest(), key=self._secret, digest_size=16)",
        "blake2b(keyed.digest(), digest_size=16)",
        "adapters/test_redis_memory.py",
    ),
    Control(
        "the key of a day that is over is removed",
        "adapters/redis/memory.py",
        "        if over:\n",
        "        if False:\n",
        "adapters/test_redis_memory.py",
    ),
    Control(
        "a missing bucket is not taken for a missing picture",
        "adapters/s3/bucket.py",
        'return "<Code>NoSuchKey</Code>" in said',
        "return True",
        "faults/test_picture_storage.py",
    ),
    Control(
        "an outage costs waiting work no attempt",
        "domain/work/leases.py",
        "row.attempts -= 0 if is_counted else 1",
        "pass",
        "blueprints/test_pictures_elsewhere.py",
    ),
    Control(
        "a process that was forked from one that used the storage does not wait for ever",
        "adapters/s3/bucket.py",
        "if Bucket._user != os.getpid():",
        "if False:",
        "faults/test_picture_storage.py",
    ),
)
