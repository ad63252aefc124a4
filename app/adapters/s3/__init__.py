"""What lies in a bucket of S3-compatible storage: pictures, and the list of erasures."""

from app.adapters.s3.bucket import Bucket, TimeLimits
from app.adapters.s3.erasures import S3Erasures
from app.adapters.s3.pictures import S3Pictures

__all__ = ["Bucket", "S3Erasures", "S3Pictures", "TimeLimits"]
